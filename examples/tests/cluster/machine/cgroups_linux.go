// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// initGroup is the group of everything in the machine that is no container. In the unified hierarchy, a group with
// processes can have no groups below it that share out resources.
const initGroup = "init"

// hierarchy is a mounted hierarchy of control groups: the unified one, or one of several of the first version.
type hierarchy struct {
	mountPoint string
	kind       string // cgroup2 or cgroup
	options    string
}

// confine moves this process into a new group in every hierarchy, and makes that group look like the root of all.
func confine(name string) error {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	hierarchies := parseHierarchies(string(data))
	if len(hierarchies) == 0 {
		return errors.New("no control groups are mounted below /sys/fs/cgroup")
	}
	for _, h := range hierarchies {
		if err := h.join(name); err != nil {
			return err
		}
	}
	if err := unix.Unshare(unix.CLONE_NEWCGROUP); err != nil {
		return fmt.Errorf("new namespace: %w", err)
	}
	for _, h := range hierarchies {
		if err := h.mountAgain(); err != nil {
			return err
		}
	}
	for _, h := range hierarchies {
		if err := h.join(initGroup); err != nil {
			return err
		}
	}
	return nil
}

// parseHierarchies reads /proc/self/mountinfo.
func parseHierarchies(mountinfo string) []hierarchy {
	var found []hierarchy
	for line := range strings.Lines(mountinfo) {
		// 35 24 0:30 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu
		mount, filesystem, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(mount), strings.Fields(filesystem)
		if !ok || len(fields) < 5 || len(kind) < 3 || kind[0] != "cgroup" && kind[0] != "cgroup2" {
			continue
		}
		options := slices.DeleteFunc(strings.Split(kind[2], ","), func(option string) bool {
			return option == "rw" || option == "ro" || strings.HasPrefix(option, "release_agent=")
		})
		if kind[0] == "cgroup2" {
			options = nil // as the kernel has it already
		}
		found = append(found, hierarchy{mountPoint: fields[4], kind: kind[0], options: strings.Join(options, ",")})
	}
	return found
}

// join makes a group below the root, if there is none, and moves this process there.
func (h hierarchy) join(name string) error {
	group := filepath.Join(h.mountPoint, name)
	if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Of the first version, a group for processors takes no process before it has some.
	for _, file := range []string{"cpuset.cpus", "cpuset.mems"} {
		if all, err := os.ReadFile(filepath.Join(h.mountPoint, file)); err == nil && h.kind == "cgroup" {
			if err := os.WriteFile(filepath.Join(group, file), all, 0); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte("0"), 0)
}

// mountAgain mounts the hierarchy as it looks from the new namespace.
func (h hierarchy) mountAgain() error {
	if err := unix.Unmount(h.mountPoint, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("unmount %s: %w", h.mountPoint, err)
	}
	if err := unix.Mount("cgroup", h.mountPoint, h.kind, unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, h.options); err != nil {
		return fmt.Errorf("mount %s: %w", h.mountPoint, err)
	}
	return nil
}
