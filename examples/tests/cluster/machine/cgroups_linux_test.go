// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseHierarchies(t *testing.T) {
	for _, test := range []struct {
		name, mountinfo string
		want            []hierarchy
	}{
		{"nothing", "", nil},
		{"other filesystems", "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\nnonsense\n", nil},
		{
			"unified", "35 24 0:30 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n",
			[]hierarchy{{mountPoint: "/sys/fs/cgroup", kind: "cgroup2"}},
		},
		{
			"first version", "36 35 0:31 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n37 35 0:32 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,release_agent=/x,name=systemd\n",
			[]hierarchy{{"/sys/fs/cgroup/cpu", "cgroup", "cpu,cpuacct"}, {"/sys/fs/cgroup/systemd", "cgroup", "name=systemd"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, parseHierarchies(test.mountinfo), cmp.AllowUnexported(hierarchy{})); diff != "" {
				t.Errorf("hierarchies (-want +got):\n%s", diff)
			}
		})
	}
}
