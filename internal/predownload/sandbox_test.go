// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/revision"
)

// A job has labels and annotations for the sandbox of the pods if that is asked for. (IP-44)
func TestSandboxConfig(t *testing.T) {
	labels := map[string]string{"app": "web", "tier": "front", revision.HashLabel: "new"}
	for _, tt := range []struct {
		name        string
		asked       bool
		annotations map[string]string
		want        *distributionv1alpha1.SandboxConfig
	}{
		{"IP-44: not asked for", false, map[string]string{"snapshotter": "lazy"}, nil},
		{"IP-44: labels of the job, annotations of the template", true, map[string]string{"snapshotter": "lazy"},
			&distributionv1alpha1.SandboxConfig{Labels: labels, Annotations: map[string]string{"snapshotter": "lazy"}}},
		{"IP-44: no annotations", true, nil, &distributionv1alpha1.SandboxConfig{Labels: labels}},
	} {
		in := input(t)
		pods := template("nginx:2", "log:1")
		pods.Annotations = tt.annotations
		in.to, in.SandboxConfig = rev(t, "new", pods), tt.asked
		jobs := decide(in).Create
		if len(jobs) != 1 {
			t.Fatalf("%s: %d jobs", tt.name, len(jobs))
		}
		if diff := cmp.Diff(tt.want, jobs[0].Spec.SandboxConfig); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
