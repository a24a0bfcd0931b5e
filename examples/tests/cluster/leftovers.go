// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// removeCgroups removes the control groups whose name matches a pattern, in all hierarchies, with those below. The kernel
// keeps a group for a moment after the last of its processes has died.
func removeCgroups(pattern string) error {
	var found []string
	for _, hierarchy := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} {
		groups, err := filepath.Glob(filepath.Join(hierarchy, pattern))
		if err != nil {
			return err
		}
		found = append(found, groups...)
	}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(pollInterval) {
		var failures []error
		for _, group := range found {
			failures = append(failures, removeCgroup(group))
		}
		err := errors.Join(failures...)
		if err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

func removeCgroup(root string) error {
	var groups []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			groups = append(groups, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, group := range slices.Backward(groups) {
		if err := os.Remove(group); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove control group: %w", err)
		}
	}
	return nil
}
