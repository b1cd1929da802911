//go:build linux

// The database looks for the limits of its control group and dies when they are there and it may not
// read them, as in a sandbox that has no mounts. This is the function that it looks with: of those files
// it finds only what can be opened.

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int access(const char *path, int mode) {
	if (mode != F_OK || (strcmp(path, "/proc/self/cgroup") != 0 && strncmp(path, "/sys/fs/cgroup/", 15) != 0))
		return faccessat(AT_FDCWD, path, mode, 0);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	return close(fd);
}
