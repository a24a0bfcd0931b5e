// SPDX-License-Identifier: Apache-2.0

package podpatch_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/podpatch"
)

// Of init containers the images of native sidecars alone are written, as an API server merges them.
func TestNativeImages(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-0", UID: "u"}, Spec: corev1.PodSpec{
		InitContainers: []corev1.Container{{Name: "setup", Image: "setup:1"}, {Name: "proxy", Image: "proxy:1", RestartPolicy: &always}},
		Containers:     []corev1.Container{{Name: "main", Image: "main:1"}},
	}}
	for name, test := range map[string]struct {
		images map[string]string
		spec   string // of the write; empty: there is none
	}{
		"a native sidecar":                {map[string]string{"proxy": "proxy:2"}, `,"spec":{"initContainers":[{"name":"proxy","image":"proxy:2"}]}`},
		"one that stands":                 {map[string]string{"proxy": "proxy:1"}, ""},
		"an init container that ends":     {map[string]string{"setup": "setup:2"}, ""},
		"a native sidecar and containers": {map[string]string{"proxy": "proxy:2", "main": "main:2", "setup": "setup:2"}, `,"spec":{"initContainers":[{"name":"proxy","image":"proxy:2"}],"containers":[{"name":"main","image":"main:2"}]}`},
	} {
		p := &podpatch.Patch{Images: test.images}
		writes, err := p.Writes(pod)
		got := ""
		if len(writes) == 1 {
			got = string(writes[0].Data)
		}
		want := ""
		if test.spec != "" {
			want = `{"metadata":{"uid":"u"}` + test.spec + `}`
		}
		if err != nil || got != want || p.Changes(pod) != (want != "") {
			t.Errorf("%s: writes %s, %v, want %s", name, got, err, want)
		}
		merged, err := served(p, pod)
		if err != nil {
			t.Fatal(err)
		}
		applied, err := p.Apply(pod)
		if diff := cmp.Diff(merged.Spec, applied.Spec); err != nil || diff != "" {
			t.Errorf("%s: %v (-served +applied)\n%s", name, err, diff)
		}
	}
}
