package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/svc-gateway/svc/agents"
	"github.com/svc-gateway/svc/agents/undo"
	"github.com/svc-gateway/svc/policy"
	"github.com/svc-gateway/svc/scanner/command"
)

// maxWritten is how long a file may be that tools write or change.
const maxWritten = 1 << 20

// Writer makes the tools that write files. What a file held before is kept in what Undo says.
type Writer struct {
	w    workspace
	undo *undo.Keeper // nil: calls are only classed
	mu   sync.Mutex   // one change at a time: a file is read, kept and written
}

// NewWriter returns the maker of tools that write below root, and elsewhere once a person has approved the
// call, but not in the denied folders.
func NewWriter(root string, keeper *undo.Keeper, denied ...string) *Writer {
	return &Writer{w: workspace{root: root, denied: denied}, undo: keeper}
}

// WriteFile returns the tool write_file {path, content}: content becomes all that the file holds. A file
// that is not there is made, with its folders if it is in the project root.
func (w *Writer) WriteFile() agents.Tool {
	return agents.NewTool(agents.ToolDef{
		Name: "write_file",
		Description: "Write a text file: content becomes all that it holds, at most 1 MiB. A file that is not there is made. " +
			"Inside the project root this happens at once; a path outside waits until a person approves it. What the file held before is kept, and can be restored.",
		Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string","description":"Path relative to the project root"},` +
			`"content":{"type":"string","description":"The whole text of the file"}},"required":["path","content"],"additionalProperties":false}`),
		Action: policy.Mutate, Classify: w.classify,
	}, w.writeFile)
}

// EditFile returns the tool edit_file {path, old, new}: the one place in a file with the text old gets
// the text new.
func (w *Writer) EditFile() agents.Tool {
	return agents.NewTool(agents.ToolDef{
		Name: "edit_file",
		Description: "Change a text file: old, which must be in it exactly once, is replaced by new. " +
			"Inside the project root this happens at once; a path outside waits until a person approves it. What the file held before is kept, and can be restored.",
		Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string","description":"Path relative to the project root"},` +
			`"old":{"type":"string","minLength":1,"description":"Text that is in the file exactly once, with as many lines around it as that needs"},` +
			`"new":{"type":"string","description":"Text to put in its place"}},"required":["path","old","new"],"additionalProperties":false}`),
		Action: policy.Mutate, Classify: w.classify,
	}, w.editFile)
}

// classify asks for a person where a path is outside of the project root. What would be refused after
// that is refused before.
func (w *Writer) classify(args map[string]any) agents.Classification {
	class := agents.Classification{Action: policy.Mutate, Where: "in the project root"}
	path, err := textArg(args, "path")
	if err != nil {
		return class
	}
	class.Paths = w.w.paths(path)
	class.Targets = w.w.pathTargets("path", class.Paths)
	if !w.w.outside(path) {
		return class
	}
	class.Categories, class.Where = []string{command.WriteOutsideRoot}, "outside the project root, at "+filepath.Clean(path)
	t, err := w.w.open()
	if err != nil {
		return class // as the call will find
	}
	defer func() { _ = t.Close() }()
	if err := t.reachable(path); err != nil {
		class.Refused = "path_refused: " + err.Error()
	}
	return class
}

// outside reports whether a path, with its links as of now, is not in the root.
func (w workspace) outside(path string) bool {
	for _, p := range w.paths(path) {
		if !filepath.IsLocal(p) {
			return true
		}
	}
	return false
}

// reachable refuses a path outside the root that is not written as what it leads to, so that who approves
// it knows, and one in a denied folder.
func (t *tree) reachable(path string) error {
	if err := legible(path); err != nil {
		return fmt.Errorf("the path: %w", err)
	}
	if !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return fmt.Errorf("%s leads outside the project root; name what it leads to by its absolute path, without dots", path)
	}
	if real, ok := resolve(path); !ok || real != path {
		return fmt.Errorf("%s leads over a symbolic link to %s; name that", path, real)
	}
	for _, d := range t.sealed {
		if within(path, d) && !within(path, t.real) {
			return fmt.Errorf("%s is in the service's own data folder, which no tool can write", path)
		}
	}
	return nil
}

func (w *Writer) writeFile(_ context.Context, tc agents.ToolContext, args map[string]any) (agents.Result, error) {
	err := known(args, "path", "content")
	path, err1 := textArg(args, "path")
	content, ok := args["content"].(string)
	if !ok {
		err = errors.Join(err, errors.New(`the argument "content" must be a string`))
	}
	if err := errors.Join(err, err1); err != nil {
		return agents.Result{}, err
	}
	return w.change(tc, path, true, func([]byte) ([]byte, error) { return []byte(content), nil })
}

func (w *Writer) editFile(_ context.Context, tc agents.ToolContext, args map[string]any) (agents.Result, error) {
	err := known(args, "path", "old", "new")
	path, err1 := textArg(args, "path")
	old, _ := args["old"].(string)
	replacement, ok := args["new"].(string)
	if old == "" {
		err = errors.Join(err, errors.New(`the argument "old" must be a string that is not empty`))
	}
	if !ok {
		err = errors.Join(err, errors.New(`the argument "new" must be a string`))
	}
	if err := errors.Join(err, err1); err != nil {
		return agents.Result{}, err
	}
	return w.change(tc, path, false, func(before []byte) ([]byte, error) {
		switch n := strings.Count(string(before), old); n {
		case 1:
			return []byte(strings.Replace(string(before), old, replacement, 1)), nil
		case 0:
			return nil, fmt.Errorf("%s does not contain the text of old; read the file, and copy the text with its spaces and line ends", path)
		default:
			return nil, fmt.Errorf("%s contains the text of old %d times; give more of the lines around the place", path, n)
		}
	})
}

// change reads a file, keeps what it holds and writes what edit makes of it.
func (w *Writer) change(tc agents.ToolContext, path string, create bool, edit func([]byte) ([]byte, error)) (agents.Result, error) {
	if w.undo == nil {
		return agents.Result{}, errors.New("no file is written here")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	t, err := w.w.open()
	if err != nil {
		return agents.Result{}, err
	}
	defer func() { _ = t.Close() }()
	f, err := t.target(path, w.w.outside(path), tc.Approved, create)
	if err != nil {
		return agents.Result{}, err
	}
	defer func() { _ = f.close() }()
	var before []byte
	if f.File != nil {
		if before, err = io.ReadAll(io.LimitReader(f, maxWritten+1)); err != nil {
			return agents.Result{}, fmt.Errorf("reading %s: %w", path, err)
		}
		if before == nil {
			before = []byte{}
		}
	}
	if len(before) > maxWritten {
		return agents.Result{}, fmt.Errorf("%s has more than %d bytes, which is more than these tools change", path, maxWritten)
	}
	after, err := edit(before)
	if err != nil {
		return agents.Result{}, err
	}
	if len(after) > maxWritten {
		return agents.Result{}, fmt.Errorf("%s would have %d bytes, more than the %d that these tools write", path, len(after), maxWritten)
	}
	if err := w.undo.Keep(undo.Change{Run: tc.Run, Call: tc.Call, Path: f.real}, before, after); err != nil {
		return agents.Result{}, err
	}
	did := "changed"
	if f.File == nil {
		did = "made"
		if err := f.make(); err != nil {
			return agents.Result{}, explainWrite(path, err)
		}
	}
	if err := undo.Replace(f.File, after); err != nil {
		return agents.Result{}, fmt.Errorf("writing %s: %w", path, err)
	}
	return agents.Result{Text: fmt.Sprintf("%s was %s: it has %d bytes. `service undo %s` undoes what this run has written.\n", path, did, len(after), tc.Run)}, nil
}

// written is a file to be written: open, or the folder in which it is to be made.
type written struct {
	*os.File // nil if it is not there
	dir      *os.File
	base     string
	real     string // its path without links
}

func (f *written) close() error {
	var err error
	if f.File != nil {
		err = f.Close()
	}
	if f.dir != nil {
		err = errors.Join(err, f.dir.Close())
	}
	return err
}

// make makes the file. As root it gets the owner of its folder.
func (f *written) make() error {
	fd, err := unix.Openat(int(f.dir.Fd()), f.base, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return err
	}
	f.File = os.NewFile(uintptr(fd), f.real)
	var st unix.Stat_t
	if os.Geteuid() == 0 && unix.Fstat(int(f.dir.Fd()), &st) == nil {
		return unix.Fchown(fd, int(st.Uid), int(st.Gid))
	}
	return nil
}

// target opens what is to be written. What was opened is what is written, whatever its path leads to by
// then.
func (t *tree) target(path string, outside, approved, create bool) (*written, error) {
	if outside {
		if !approved {
			return nil, fmt.Errorf("%s is outside the project root %s; a person has to approve this first", path, t.given)
		}
		if err := t.reachable(path); err != nil {
			return nil, err
		}
		f, err := elsewhere(path, create)
		if err != nil || f.File == nil {
			return f, err
		}
		info, err := f.Stat()
		if err == nil {
			err = t.unlinked(path, info)
		}
		if err != nil {
			return nil, errors.Join(err, f.close())
		}
		return f, nil
	}
	rel, err := t.rel(path)
	if err != nil {
		return nil, err
	}
	if info, err := t.Stat(rel); err == nil && !info.Mode().IsRegular() {
		return nil, notWritable(path, info)
	}
	g, err := t.OpenFile(rel, os.O_RDWR|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) && create {
		return t.newFile(path, rel)
	}
	if err != nil {
		return nil, explainWrite(path, err)
	}
	f := &written{File: g}
	if err := t.mayWrite(path, f); err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// mayWrite looks at an open file, and finds its path.
func (t *tree) mayWrite(path string, f *written) error {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notWritable(path, info)
	}
	if err == nil {
		err = t.permit(path, f.File, "", false)
	}
	if err == nil {
		err = t.unlinked(path, info)
	}
	if err == nil {
		f.real, err = whereIs(f.File)
	}
	return err
}

func (t *tree) newFile(path, rel string) (*written, error) {
	if _, err := t.Lstat(rel); err == nil {
		return nil, fmt.Errorf("%s is a symbolic link to nothing; remove it, or name another file", path)
	}
	dir := filepath.Dir(rel)
	for p := dir; p != "."; p = filepath.Dir(p) { // folders are made where a folder may be looked into only
		d, err := t.OpenFile(p, os.O_RDONLY|unix.O_DIRECTORY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, explain(path, err)
		}
		err = t.permit(path, d, "", false)
		if err = errors.Join(err, d.Close()); err != nil {
			return nil, err
		}
		break
	}
	if err := t.MkdirAll(dir, 0o755); err != nil {
		return nil, explainWrite(path, err)
	}
	d, base, err := t.parent(path, false)
	if err != nil {
		return nil, err
	}
	f := &written{dir: d, base: base}
	where, err := whereIs(d)
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	f.real = filepath.Join(where, base)
	return f, nil
}

// elsewhere opens a path outside the root, following no link.
func elsewhere(path string, create bool) (*written, error) {
	dir, base := filepath.Split(path)
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := unix.Openat2(unix.AT_FDCWD, dir, &how)
	if err != nil {
		return nil, fmt.Errorf("opening the folder of %s: %w", path, err)
	}
	f := &written{dir: os.NewFile(uintptr(fd), dir), base: base, real: path}
	fd, err = unix.Openat(fd, base, unix.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) && create {
		return f, nil
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), f.close())
	}
	f.File = os.NewFile(uintptr(fd), path)
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notWritable(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

func explainWrite(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("the service may not write %s", path)
	}
	return explain(path, err)
}

func notWritable(path string, info fs.FileInfo) error {
	if info.IsDir() {
		return fmt.Errorf("%s is a folder; name a file", path)
	}
	return notAFile(path, info.Mode())
}

// whereIs is the path of an open file, without links.
func whereIs(f *os.File) (string, error) {
	where, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil {
		return "", fmt.Errorf("finding where %s is: %w", f.Name(), err)
	}
	return where, nil
}
