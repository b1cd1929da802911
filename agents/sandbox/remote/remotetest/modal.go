package remotetest

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	pb "github.com/modal-labs/modal-client/go/proto/modal_proto"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Modal serves what the SDK calls of Modal's API, with the router for commands at the same address.
func Modal(f *Fleet) *Server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	m := &modal{f: f, address: l.Addr().String(), execs: map[string]*modalExec{}}
	s := grpc.NewServer(grpc.UnaryInterceptor(m.unary), grpc.StreamInterceptor(m.stream))
	pb.RegisterModalClientServer(s, m)
	pb.RegisterTaskCommandRouterServer(s, &router{modal: m})
	done := make(chan struct{})
	go func() { defer close(done); _ = s.Serve(l) }()
	return &Server{URL: "http://" + m.address, close: func() {
		f.Close()
		s.Stop()
		<-done
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, e := range m.execs {
			<-e.done
			_ = os.Remove(e.stdout)
		}
	}}
}

type modal struct {
	pb.UnimplementedModalClientServer
	f       *Fleet
	address string

	mu    sync.Mutex
	execs map[string]*modalExec
}

type modalExec struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	wrote  uint64
	stdout string // path of what it prints
	done   chan struct{}
	code   int32
	signal int32
}

// token is a JWT of nobody's, which ends in an hour.
func token() string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"none"}`) + "." + part(fmt.Sprintf(`{"exp":%d}`, time.Now().Add(time.Hour).Unix())) + "." + part("x")
}

// admit answers calls that are refused before anybody looks at them.
func (m *modal) admit(ctx context.Context, method string) error {
	m.f.note("CALL", method[strings.LastIndexByte(method, '/')+1:], "")
	md, _ := metadata.FromIncomingContext(ctx)
	one := func(key string) string {
		if v := md.Get(key); len(v) > 0 {
			return v[0]
		}
		return ""
	}
	switch {
	case strings.Contains(method, "TaskCommandRouter"):
		if !strings.HasPrefix(one("authorization"), "Bearer ") {
			return status.Error(codes.Unauthenticated, "no token of the router")
		}
	case one("x-modal-token-id") != Token || one("x-modal-token-secret") != Key:
		return status.Error(codes.Unauthenticated, "the token is wrong: "+one("x-modal-token-secret"))
	}
	if m.f.take(func(x *Faults) *int { return &x.Fail }) {
		return status.Error(codes.FailedPrecondition, "out of order, key "+Key)
	}
	if m.f.take(func(x *Faults) *int { return &x.Busy }) {
		s, err := status.New(codes.ResourceExhausted, "slow down").WithDetails(pb.RPCRetryPolicy_builder{RetryAfterSecs: 0.1}.Build())
		if err != nil {
			return err
		}
		return s.Err()
	}
	return nil
}

func (m *modal) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if err := m.admit(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	return next(ctx, req)
}

func (m *modal) stream(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if err := m.admit(s.Context(), info.FullMethod); err != nil {
		return err
	}
	return next(srv, s)
}

func (m *modal) AuthTokenGet(context.Context, *pb.AuthTokenGetRequest) (*pb.AuthTokenGetResponse, error) {
	return pb.AuthTokenGetResponse_builder{Token: token()}.Build(), nil
}

func (m *modal) AppGetOrCreate(_ context.Context, r *pb.AppGetOrCreateRequest) (*pb.AppGetOrCreateResponse, error) {
	return pb.AppGetOrCreateResponse_builder{AppId: "ap-" + r.GetAppName()}.Build(), nil
}

func (m *modal) EnvironmentGetOrCreate(context.Context, *pb.EnvironmentGetOrCreateRequest) (*pb.EnvironmentGetOrCreateResponse, error) {
	return pb.EnvironmentGetOrCreateResponse_builder{EnvironmentId: "en-1", Metadata: pb.EnvironmentMetadata_builder{
		Name: "main", Settings: pb.EnvironmentSettings_builder{ImageBuilderVersion: "2025.06"}.Build(),
	}.Build()}.Build(), nil
}

func (m *modal) ImageGetOrCreate(context.Context, *pb.ImageGetOrCreateRequest) (*pb.ImageGetOrCreateResponse, error) {
	return pb.ImageGetOrCreateResponse_builder{ImageId: "im-1", Result: pb.GenericResult_builder{
		Status: pb.GenericResult_GENERIC_STATUS_SUCCESS,
	}.Build()}.Build(), nil
}

func (m *modal) SandboxCreateV2(_ context.Context, r *pb.SandboxCreateV2Request) (*pb.SandboxCreateV2Response, error) {
	labels := map[string]string{}
	for _, t := range r.GetTags() {
		labels[t.GetTagName()] = t.GetTagValue()
	}
	if r.GetDefinition().GetTimeoutSecs() == 0 {
		return nil, status.Error(codes.InvalidArgument, "a sandbox that nobody ends must end by itself")
	}
	box := m.f.Add(labels)
	box.Offline, box.Made = r.GetDefinition().GetNetworkAccess().GetNetworkAccessType() == pb.NetworkAccess_BLOCKED, r.GetDefinition()
	return pb.SandboxCreateV2Response_builder{SandboxId: box.ID}.Build(), nil
}

func (m *modal) find(id string) (*Machine, error) {
	if box := m.f.machine(id); box != nil {
		return box, nil
	}
	return nil, status.Error(codes.NotFound, "no such sandbox")
}

func (m *modal) SandboxGetTaskIdV2(_ context.Context, r *pb.SandboxGetTaskIdRequest) (*pb.SandboxGetTaskIdResponse, error) {
	box, err := m.find(r.GetSandboxId())
	if err != nil {
		return nil, err
	}
	if !m.f.ready(box) {
		return pb.SandboxGetTaskIdResponse_builder{}.Build(), nil
	}
	return pb.SandboxGetTaskIdResponse_builder{TaskId: &box.ID}.Build(), nil
}

func (m *modal) SandboxGetCommandRouterAccess(context.Context, *pb.SandboxGetCommandRouterAccessRequest) (*pb.SandboxGetCommandRouterAccessResponse, error) {
	return pb.SandboxGetCommandRouterAccessResponse_builder{Jwt: token(), Url: "https://" + m.address}.Build(), nil
}

// SandboxListV2 answers in pages of one sandbox, the newest first.
func (m *modal) SandboxListV2(_ context.Context, r *pb.SandboxListRequest) (*pb.SandboxListResponse, error) {
	want := map[string]string{}
	for _, t := range r.GetTags() {
		want[t.GetTagName()] = t.GetTagValue()
	}
	var newest *Machine
	for _, box := range m.f.Machines() {
		before := r.GetBeforeTimestamp()
		if has(box.Labels, want) && (before == 0 || box.started < before) && (newest == nil || box.started > newest.started) && !m.f.broken().HideFromAll {
			newest = box
		}
	}
	if newest == nil {
		return pb.SandboxListResponse_builder{}.Build(), nil
	}
	return pb.SandboxListResponse_builder{Sandboxes: []*pb.SandboxInfo{pb.SandboxInfo_builder{Id: newest.ID, CreatedAt: newest.started}.Build()}}.Build(), nil
}

func (m *modal) SandboxTagsGetV2(_ context.Context, r *pb.SandboxTagsGetRequest) (*pb.SandboxTagsGetResponse, error) {
	box, err := m.find(r.GetSandboxId())
	if err != nil {
		return nil, err
	}
	var tags []*pb.SandboxTag
	for k, v := range box.Labels {
		tags = append(tags, pb.SandboxTag_builder{TagName: k, TagValue: v}.Build())
	}
	return pb.SandboxTagsGetResponse_builder{Tags: tags}.Build(), nil
}

func (m *modal) SandboxTerminateV2(_ context.Context, r *pb.SandboxTerminateRequest) (*pb.SandboxTerminateResponse, error) {
	if _, err := m.find(r.GetSandboxId()); err != nil {
		return nil, err
	}
	if !m.f.remove(r.GetSandboxId()) {
		return nil, status.Error(codes.FailedPrecondition, "the worker does not answer")
	}
	return pb.SandboxTerminateResponse_builder{}.Build(), nil
}

// router runs commands in sandboxes, whose id is that of their task.
type router struct {
	pb.UnimplementedTaskCommandRouterServer
	*modal
}

func (r *router) TaskExecStart(_ context.Context, req *pb.TaskExecStartRequest) (*pb.TaskExecStartResponse, error) {
	box, err := r.find(req.GetTaskId())
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.execs[req.GetExecId()] != nil { // the call came twice
		return pb.TaskExecStartResponse_builder{}.Build(), nil
	}
	args := req.GetCommandArgs()
	if len(args) == 3 && strings.HasPrefix(args[2], "exec cat >/tmp/svc-") { // how files are sent
		if err := box.write(strings.TrimPrefix(args[2], "exec cat >"), strings.NewReader("")); err != nil {
			return nil, status.Error(codes.InvalidArgument, err.Error())
		}
	}
	e := &modalExec{cmd: box.command(args), done: make(chan struct{})}
	out, err := os.CreateTemp("", "svc-modal-")
	if err == nil {
		e.cmd.Stdout, e.stdout = out, out.Name()
		e.stdin, err = e.cmd.StdinPipe()
	}
	if err == nil {
		err = box.start(e.cmd)
	}
	if err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	r.execs[req.GetExecId()] = e
	go func() {
		defer close(e.done)
		code, signal := box.wait(e.cmd)
		e.code, e.signal = int32(code), int32(signal)
		_ = out.Close()
	}()
	return pb.TaskExecStartResponse_builder{}.Build(), nil
}

func (r *router) exec(id string) (*modalExec, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e := r.execs[id]; e != nil {
		return e, nil
	}
	return nil, status.Error(codes.NotFound, "no such command")
}

func (r *router) TaskExecStdinWrite(_ context.Context, req *pb.TaskExecStdinWriteRequest) (*pb.TaskExecStdinWriteResponse, error) {
	e, err := r.exec(req.GetExecId())
	if err != nil {
		return nil, err
	}
	if req.GetOffset() != e.wrote {
		return nil, status.Error(codes.InvalidArgument, "the offset is wrong")
	}
	n, err := e.stdin.Write(req.GetData())
	e.wrote += uint64(n)
	if req.GetEof() {
		err = errors.Join(err, e.stdin.Close())
	}
	if err != nil {
		return nil, status.Error(codes.FailedPrecondition, err.Error())
	}
	return pb.TaskExecStdinWriteResponse_builder{}.Build(), nil
}

func (r *router) TaskExecStdioRead(req *pb.TaskExecStdioReadRequest, s grpc.ServerStreamingServer[pb.TaskExecStdioReadResponse]) error {
	e, err := r.exec(req.GetExecId())
	if err != nil {
		return err
	}
	select {
	case <-e.done:
	case <-s.Context().Done():
		return s.Context().Err()
	}
	content, err := os.ReadFile(e.stdout)
	if n := r.f.broken().BigAnswer; err == nil && n > 0 {
		content = make([]byte, n)
	}
	if err != nil {
		return status.Error(codes.Internal, err.Error())
	}
	content = content[min(uint64(len(content)), req.GetOffset()):]
	for len(content) > 0 {
		piece := content[:min(len(content), 64<<10)]
		if err := s.Send(pb.TaskExecStdioReadResponse_builder{Data: piece}.Build()); err != nil {
			return err
		}
		content = content[len(piece):]
	}
	return nil
}

func (r *router) TaskExecWait(ctx context.Context, req *pb.TaskExecWaitRequest) (*pb.TaskExecWaitResponse, error) {
	e, err := r.exec(req.GetExecId())
	if err != nil {
		return nil, err
	}
	if strings.Contains(e.cmd.String(), "run.sh") && r.f.take(func(x *Faults) *int { return &x.LostExec }) {
		return nil, status.Error(codes.Unavailable, "the worker was away for a moment")
	}
	select {
	case <-e.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if e.signal != 0 {
		return pb.TaskExecWaitResponse_builder{Signal: &e.signal}.Build(), nil
	}
	return pb.TaskExecWaitResponse_builder{Code: &e.code}.Build(), nil
}
