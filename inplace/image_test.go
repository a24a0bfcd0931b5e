// SPDX-License-Identifier: Apache-2.0

package inplace

import "testing"

func TestFullImage(t *testing.T) {
	for in, want := range map[string]string{
		"busybox":                         "docker.io/library/busybox:latest",
		"busybox:1":                       "docker.io/library/busybox:1",
		"docker.io/busybox":               "docker.io/library/busybox:latest",
		"docker.io/library/busybox:1":     "docker.io/library/busybox:1",
		"team/app":                        "docker.io/team/app:latest",
		"quay.io/app":                     "quay.io/app:latest",
		"quay.io/team/app:2":              "quay.io/team/app:2",
		"localhost/app":                   "localhost/app:latest",
		"localhost:5000/app":              "localhost:5000/app:latest",
		"registry:5000/app:3":             "registry:5000/app:3",
		"app@sha256:abc":                  "docker.io/library/app@sha256:abc",
		"registry:5000/team/app@sha256:a": "registry:5000/team/app@sha256:a",
		"":                                "docker.io/library/:latest",
	} {
		if got := fullImage(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}
