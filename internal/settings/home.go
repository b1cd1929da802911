package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Home is the data folder. Its zero value is not usable; get one from [Locate].
type Home struct{ dir string }

// Locate finds the data folder without changing anything: SVC_HOME, else .svc in the user's home,
// else fallback (Caddy's data folder, where the service has no home). What cannot be one is an
// error that says how to set SVC_HOME.
func Locate(env func(string) (string, bool), fallback string) (Home, error) {
	dir := fallback
	if v, _ := env("SVC_HOME"); v != "" {
		if !filepath.IsAbs(v) {
			return Home{}, fmt.Errorf("SVC_HOME is %q, a relative path: set it to an absolute one, such as /var/lib/svc", v)
		}
		dir = v
	} else if v, _ := env("HOME"); filepath.IsAbs(v) {
		dir = filepath.Join(v, ".svc")
	}
	if !filepath.IsAbs(dir) {
		return Home{}, errors.New("there is no place for the data folder, because neither SVC_HOME nor HOME is set: set SVC_HOME to an absolute path, such as /var/lib/svc")
	}
	h := Home{dir: filepath.Clean(dir)}
	return h, h.check()
}

// check refuses a path that no data folder can have.
func (h Home) check() error {
	if h.dir == "/" {
		return errors.New("SVC_HOME is /, which cannot be the data folder: name a folder in it")
	}
	if longest := maxSocketPath - len("/run/control.sock"); len(h.dir) > longest {
		return fmt.Errorf("data folder %s: the path has %d characters, and the sockets in it allow %d: set SVC_HOME to a shorter one",
			h.dir, len(h.dir), longest)
	}
	info, err := os.Stat(h.dir)
	if errors.Is(err, syscall.ENOTDIR) || err == nil && !info.IsDir() {
		return fmt.Errorf("data folder %s: this is a file, or lies below one: set SVC_HOME to a folder", h.dir)
	}
	return nil
}

// Dir is the absolute path of the data folder.
func (h Home) Dir() string { return h.dir }

// Config is the settings file, config/api.json.
func (h Home) Config() string { return h.path("config", "api.json") }

// Token is the file with the command line's token.
func (h Home) Token() string { return h.path("token") }

// AuditDB is the audit log.
func (h Home) AuditDB() string { return h.path("databases", "audit.db") }

// AuditArchive is the folder of records that have left the audit log.
func (h Home) AuditArchive() string { return h.path("databases", "archive") }

// IdentityDB is the database of users and tokens.
func (h Home) IdentityDB() string { return h.path("databases", "identity.db") }

// AssertionKey is the key that assertions for other servers are signed with.
func (h Home) AssertionKey() string { return h.path("keys", "assertion.key") }

// LoginKey is the key of logins at identity providers that are under way.
func (h Home) LoginKey() string { return h.path("keys", "login.key") }

// IdentityKey is the key of what identity.db keeps encrypted.
func (h Home) IdentityKey() string { return h.path("keys", "identity.key") }

// PolicyKey is the key of the hashes that stand for secrets in records of decisions.
func (h Home) PolicyKey() string { return h.path("keys", "policy.key") }

// Installation is the id of this data folder, by which it knows again what it has elsewhere.
func (h Home) Installation() string { return h.path("keys", "installation.id") }

// Policies is the folder with the operator's rule files.
func (h Home) Policies() string { return h.path("policies") }

// Agents is the folder with the operator's agents.
func (h Home) Agents() string { return h.path("agents") }

// Skills is the folder of the skills of agents.
func (h Home) Skills() string { return h.path("skills") }

// SkillPins is the file with what is approved of skills.
func (h Home) SkillPins() string { return h.path("skills.json") }

// KnownHosts is the file with the host keys of network devices that people have pinned.
func (h Home) KnownHosts() string { return h.path("known_hosts") }

// MCP is the folder of what was approved of MCP servers.
func (h Home) MCP() string { return h.path("mcp") }

// StateDB is the database of threads and runs.
func (h Home) StateDB() string { return h.path("databases", "state.db") }

// Hooks is the file with the commands that are run at events.
func (h Home) Hooks() string { return h.path("hooks.json") }

// Analytics is the folder of the analytical database, which its writer has for itself.
func (h Home) Analytics() string { return h.path("databases", "analytics") }

// Snapshots is the folder of the analytical database's snapshots.
func (h Home) Snapshots() string { return h.path("snapshots") }

// IngestSocket is the socket of the analytical database's writer.
func (h Home) IngestSocket() string { return h.path("run", "ingest.sock") }

// IngestLock is the file that the analytical database's writer holds a lock on.
func (h Home) IngestLock() string { return h.path("run", "ingest.lock") }

// ControlSocket is the socket of the local commands.
func (h Home) ControlSocket() string { return h.path("run", "control.sock") }

// AdminSocket is the socket of Caddy's own API.
func (h Home) AdminSocket() string { return h.path("run", "admin.sock") }

// PIDFile is the file with the process id of the service.
func (h Home) PIDFile() string { return h.path("run", "service.pid") }

// LockFile is the file that the serving process holds a lock on.
func (h Home) LockFile() string { return h.path("run", "service.lock") }

// LogFile is the log of a service in the background.
func (h Home) LogFile() string { return h.path("service.log") }

// Undo is the folder of what files held before tools changed them.
func (h Home) Undo() string { return h.path("undo") }

// Workspace is the default project root.
func (h Home) Workspace() string { return h.path("workspace") }

func (h Home) path(elem ...string) string {
	return filepath.Join(append([]string{h.dir}, elem...)...)
}

// maxSocketPath is what fits into a unix socket's address on every system we run on (sun_path
// is 108 bytes on Linux, 104 elsewhere, with a zero at the end).
const maxSocketPath = 103

const gitignore = "# Written by the service: keys and records do not belong under version control.\nconfig/\ndatabases/\nkeys/\nsnapshots/\n"

// Create makes the data folder and what belongs in it, readable by its owner only. It may be
// called again at any time. A folder that others may write to is refused.
func (h Home) Create() error {
	err := h.createRoot()
	for _, name := range []string{"config", "databases", "run", "snapshots", "workspace"} {
		if err == nil {
			err = private(h.path(name))
		}
	}
	if err == nil {
		err = h.ignore()
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("creating the data folder %s: %w: let this user write to it, or set SVC_HOME to a folder where it may", h.dir, err)
	case err != nil:
		return fmt.Errorf("creating the data folder %s: %w", h.dir, err)
	}
	return nil
}

// ignore keeps what belongs to this host out of version control.
func (h Home) ignore() error {
	f, err := os.OpenFile(h.path(".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(gitignore)
	return errors.Join(err, f.Close())
}

// createRoot makes the folder itself. One that was there before is closed to others only if it
// is ours or empty: a whole project folder given as SVC_HOME keeps its mode, and what we put
// into it is private by itself.
func (h Home) createRoot() error {
	if err := os.MkdirAll(h.dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(h.dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	content, err := os.ReadDir(h.dir)
	if err != nil {
		return err
	}
	_, err = os.Stat(h.path("databases"))
	if len(content) == 0 || err == nil {
		return os.Chmod(h.dir, 0o700)
	}
	if info.Mode().Perm()&0o022 != 0 {
		return errors.New("others can write to it: chmod 700 it, or set SVC_HOME to a folder of the service's own")
	}
	return nil
}

func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.Chmod(dir, 0o700)
}
