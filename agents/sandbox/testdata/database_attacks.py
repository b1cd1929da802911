# Tries to change the database at $SVC_DATABASE, or what is around it, and to get at others.
import ctypes
import fcntl
import glob
import mmap
import os
import subprocess

db = os.environ["SVC_DATABASE"]
folder = os.path.dirname(db)
live = os.environ["LIVE"]
libc = ctypes.CDLL(None, use_errno=True)


def call(name, *args):
    if getattr(libc, name)(*args) < 0:
        raise OSError(ctypes.get_errno(), name)


def write(path, flags):
    fd = os.open(path, flags, 0o666)
    os.write(fd, b"x")


def reopened(flags):
    fd = os.open(db, os.O_RDONLY)
    write("/proc/self/fd/%d" % fd, flags)


def mapped():
    fd = os.open(db, os.O_RDONLY)
    m = mmap.mmap(fd, 0, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
    m[0] = 120


def made_writable():
    fd = os.open(db, os.O_RDONLY)
    libc.mmap.restype = ctypes.c_void_p
    address = libc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ, mmap.MAP_SHARED, fd, ctypes.c_long(0))
    call("mprotect", ctypes.c_void_p(address), ctypes.c_size_t(4096), 3)


def spliced():
    fd, (r, w) = os.open(db, os.O_RDONLY), os.pipe()
    os.write(w, b"x")
    os.splice(r, fd, 1, offset_dst=0)


def copied():
    source, fd = os.open("mine", os.O_RDWR | os.O_CREAT), os.open(db, os.O_RDONLY)
    os.write(source, b"x")
    os.copy_file_range(source, fd, 1, 0, 0)


def fd_of(call):
    fd = os.open(db, os.O_RDONLY)
    call(fd)


def linked():
    os.link(db, "link")
    write("link", os.O_WRONLY)


def by_symlink():
    os.symlink(db, "symlink")
    write("symlink", os.O_WRONLY | os.O_TRUNC)


def flagged():
    fcntl.ioctl(os.open(db, os.O_RDONLY), 0x40086602, b"\x80\0\0\0\0\0\0\0")


def shell(script):
    if subprocess.run(["sh", "-c", script], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode != 0:
        raise OSError(script)


def of_others():
    for pid in glob.glob("/proc/[0-9]*"):
        for path in (pid + "/root" + live, pid + "/root" + os.environ["SNAPSHOTS"], pid + "/cwd/" + os.path.basename(live)):
            try:
                os.listdir(path) if os.path.isdir(path) else open(path).read()
                return
            except OSError:
                continue
    raise OSError("nothing")


ATTEMPTS = {
    "open for writing": lambda: write(db, os.O_WRONLY),
    "open for both": lambda: write(db, os.O_RDWR),
    "append": lambda: write(db, os.O_WRONLY | os.O_APPEND),
    "truncate while opening": lambda: os.open(db, os.O_RDONLY | os.O_TRUNC),
    "truncate": lambda: os.truncate(db, 0),
    "truncate a descriptor": lambda: fd_of(lambda fd: os.ftruncate(fd, 0)),
    "allocate": lambda: fd_of(lambda fd: os.posix_fallocate(fd, 0, 1 << 20)),
    "open again in /proc": lambda: reopened(os.O_WRONLY),
    "open again for both": lambda: reopened(os.O_RDWR | os.O_TRUNC),
    "open again in /dev/fd": lambda: fd_of(lambda fd: write("/dev/fd/%d" % fd, os.O_WRONLY)),
    "map": mapped,
    "make a map writable": made_writable,
    "splice": spliced,
    "copy_file_range": copied,
    "change the mode": lambda: os.chmod(db, 0o666),
    "change the mode of a descriptor": lambda: fd_of(lambda fd: os.fchmod(fd, 0o666)),
    "change the owner": lambda: os.chown(db, os.getuid(), os.getgid()),
    "change the times": lambda: os.utime(db, (1, 1)),
    "change the times of a descriptor": lambda: fd_of(lambda fd: os.utime(fd, (1, 1))),
    "an attribute": lambda: os.setxattr(db, "user.x", b"x"),
    "flags": flagged,
    "remove": lambda: os.remove(db),
    "rename": lambda: os.rename(db, db + ".old"),
    "rename away": lambda: os.rename(db, "away"),
    "replace": lambda: (open("new", "w").close(), os.rename("new", db)),
    "exchange": lambda: (open("new", "w").close(), call("renameat2", -100, b"new", -100, db.encode(), 2)),
    "link": linked,
    "link over it": lambda: (open("new2", "w").close(), os.link("new2", db)),
    "symlink": by_symlink,
    "a log beside it": lambda: write(db + ".wal", os.O_WRONLY | os.O_CREAT),
    "a file beside it": lambda: write(folder + "/beside", os.O_WRONLY | os.O_CREAT),
    "a nameless file beside it": lambda: os.open(folder, os.O_TMPFILE | os.O_RDWR),
    "a folder beside it": lambda: os.mkdir(folder + "/beside.tmp"),
    "rename the folder": lambda: os.rename(folder, folder + ".old"),
    "the mode of the folder": lambda: os.chmod(folder, 0o777),
    "mount over it": lambda: call("mount", b"mine", db.encode(), None, 4096, None),
    "mount again": lambda: call("mount", None, db.encode(), None, 32 | 4096, None),
    "unmount": lambda: call("umount2", db.encode(), 2),
    "new mount interface": lambda: call("syscall", 428, -100, db.encode(), 1),
    "attributes of the mount": lambda: call("syscall", 442, -100, db.encode(), 0, ctypes.create_string_buffer(b"\0" * 8 + b"\1" + b"\0" * 23), 32),
    "own namespaces": lambda: shell("unshare -Urm mount -o remount,rw,bind " + db),
    "a handle": lambda: call("open_by_handle_at", -100, ctypes.create_string_buffer(64), os.O_RDWR),
    "shell": lambda: shell("echo x >" + db),
    "dd": lambda: shell("dd if=/dev/zero of=%s bs=1 count=1 conv=notrunc" % db),
    "python's module": lambda: write(os.environ["PYTHONPATH"].split(":")[-1] + "/sitecustomize.py", os.O_WRONLY),
    "a module beside it": lambda: write(os.environ["PYTHONPATH"].split(":")[-1] + "/os.py", os.O_WRONLY | os.O_CREAT),
    "the live database": lambda: open(live).read(),
    "write to the live database": lambda: write(live, os.O_WRONLY),
    "its folder": lambda: os.listdir(os.path.dirname(live)),
    "the folder of snapshots": lambda: os.listdir(os.environ["SNAPSHOTS"]),
    "from the snapshot": lambda: open(folder + "/../../databases/analytics.duckdb").read(),
    "others' roots": of_others,
}

print("read:", open(db).read())
for name, attempt in ATTEMPTS.items():
    try:
        attempt()
    except OSError:
        continue
    print(name)
print("done")
