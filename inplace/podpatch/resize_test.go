// SPDX-License-Identifier: Apache-2.0

package podpatch_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/podwright/podwright/inplace/podpatch"
)

// cpu are limits and requests of cpu; empty ones are none.
func cpu(limit, request string) (r corev1.ResourceRequirements) {
	if limit != "" {
		r.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)}
	}
	if request != "" {
		r.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)}
	}
	return r
}

// IP-36: a resize is the last request, for the pod as the request before has left it. It has the quantities that change and
// nothing else.
func TestResizes(t *testing.T) {
	const web = `{"name":"web","resources":{"limits":{"cpu":"2"}}}`
	for _, tt := range []struct {
		name string
		edit func(*podpatch.Patch)
		want []string // subresource: data, without the UID
	}{
		{"alone", func(p *podpatch.Patch) { p.SetResources("web", cpu("2", "")) }, []string{`resize: {"metadata":{},"spec":{"containers":[` + web + `]}}`}},
		{"alone, of the pod as it was read", func(p *podpatch.Patch) { p.SetResources("web", cpu("2", "")); p.IfUnchanged = true },
			[]string{`resize: {"metadata":{"resourceVersion":"42"},"spec":{"containers":[` + web + `]}}`}},
		{"what stands is left out", func(p *podpatch.Patch) { p.SetResources("web", cpu("2", "1")); p.SetResources("log", cpu("", "1")) },
			[]string{`resize: {"metadata":{},"spec":{"containers":[` + web + `]}}`}},
		{"all stands", func(p *podpatch.Patch) { p.SetResources("web", cpu("1", "1000m")) }, nil},
		{"of no container", func(p *podpatch.Patch) { p.SetResources("none", cpu("1", "")) }, nil},
		{"with a label, which it does not take", func(p *podpatch.Patch) { p.SetResources("web", cpu("2", "")); p.SetLabel("rev", "b") },
			[]string{`: {"metadata":{"labels":{"rev":"b"}}}`, `resize, chained: {"metadata":{},"spec":{"containers":[` + web + `]}}`}},
		{"with an image", func(p *podpatch.Patch) { p.SetResources("web", cpu("2", "")); p.SetImage("web", "web:2") },
			[]string{`: {"metadata":{},"spec":{"containers":[{"name":"web","image":"web:2"}]}}`, `resize, chained: {"metadata":{},"spec":{"containers":[` + web + `]}}`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pod := testPod()
			pod.Spec.Containers[0].Resources, pod.Spec.Containers[1].Resources = cpu("1", "1"), cpu("", "1")
			var p podpatch.Patch
			tt.edit(&p)
			writes, err := p.Writes(pod)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range writes {
				text := w.Subresource
				if w.Chained {
					text += ", chained"
				}
				got = append(got, text+": "+strings.NewReplacer(`,"uid":"u1"`, "", `"uid":"u1"`, "").Replace(string(w.Data)))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			after, err := p.Apply(pod)
			if err != nil || p.Changes(after) {
				t.Errorf("applied: %+v, error %v", after.Spec.Containers, err)
			}
			if want, err := served(&p, pod); err != nil || !cmp.Equal(want.Spec, after.Spec) {
				t.Errorf("the API server makes %+v of it, error %v; Apply %+v", want.Spec, err, after.Spec)
			}
		})
	}
}
