package interop_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/interop"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/svc-gateway/svc/policy"
)

// bearer sends a token with every call.
type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

func (bearer) RequireTransportSecurity() bool { return false }

// The interoperability suite of gRPC, whose client ends the program when an answer is not as it should be.
func TestGRPC(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	testgrpc.RegisterTestServiceServer(server, interop.NewTestServer())
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	srv := behind(t, "h2c://"+l.Addr().String())

	dial := func(token string) *grpc.ClientConn {
		conn, err := grpc.NewClient(strings.TrimPrefix(srv.URL, "http://"),
			grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithPerRPCCredentials(bearer(token)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	conn := dial(srv.Token)
	client := testgrpc.NewTestServiceClient(conn)
	for name, do := range map[string]func(context.Context, testgrpc.TestServiceClient, ...grpc.CallOption){
		"empty unary": interop.DoEmptyUnaryCall, "large unary": interop.DoLargeUnaryCall,
		"client streaming": interop.DoClientStreaming, "server streaming": interop.DoServerStreaming,
		"ping pong": interop.DoPingPong, "empty stream": interop.DoEmptyStream,
		"cancel after begin": interop.DoCancelAfterBegin, "cancel after first response": interop.DoCancelAfterFirstResponse,
		"status": interop.DoStatusCodeAndMessage, "special status": interop.DoSpecialStatusMessage,
		"metadata": interop.DoCustomMetadata,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			do(ctx, client)
		})
	}
	t.Run("unimplemented", func(t *testing.T) { interop.DoUnimplementedMethod(t.Context(), conn) })

	// The suite's own case of a deadline ends the program whenever the server, which has the same deadline,
	// resets the stream before the client gives up: a proxy tells that as 502.
	t.Run("deadline", func(t *testing.T) {
		var err error
		for range 10 {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			stream, openErr := client.FullDuplexCall(ctx)
			if err = openErr; err == nil {
				_, err = stream.Recv()
			}
			cancel()
			if status.Code(err) != codes.Unavailable {
				break
			}
		}
		if got := status.Code(err); got != codes.DeadlineExceeded {
			t.Errorf("got %v, want DeadlineExceeded", err)
		}
	})
	t.Run("a wrong token", func(t *testing.T) {
		_, err := testgrpc.NewTestServiceClient(dial("wrong")).EmptyCall(t.Context(), &testgrpc.Empty{})
		if got := status.Code(err); got != codes.Unauthenticated {
			t.Errorf("got %v, want Unauthenticated", err)
		}
	})
	t.Run("a token that is revoked", func(t *testing.T) {
		token := srv.AddUser("ann", policy.User, time.Time{})
		stream, err := testgrpc.NewTestServiceClient(dial(token)).FullDuplexCall(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ask := &testgrpc.StreamingOutputCallRequest{ResponseParameters: []*testgrpc.ResponseParameters{{Size: 10}}}
		if err := stream.Send(ask); err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); err != nil {
			t.Fatal(err)
		}
		if _, err := srv.Admin().RemoveUser(t.Context(), "ann"); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := stream.Recv()
			ended <- err
		}()
		select {
		case err := <-ended:
			if err == nil {
				t.Error("got a message")
			}
		case <-time.After(30 * time.Second):
			t.Error("the stream is still open")
		}
	})
}
