// SPDX-License-Identifier: Apache-2.0

package inplace_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/v1alpha1"
)

// Every way of splitting a change into batches, as names per write.
func TestBatches(t *testing.T) {
	k := func(i int) change { return env(i, "K", "metadata.labels['k']") }
	l := func(i int) change { return env(i, "L", "metadata.annotations['a']") }
	allImages := []change{image(0, "c1:2"), image(1, "c2:2"), image(2, "c3:2")}
	for _, tt := range []struct {
		name       string
		priorities []func(*corev1.Pod)
		both       []change
		changes    []change
		want       string
	}{
		{"IP-15: no priorities", nil, nil, allImages, "c1,c2,c3"},
		{"IP-E10: 20, 10, 0", []func(*corev1.Pod){priority(0, "20"), priority(1, "10"), priority(2, "0")}, nil, allImages, "c1|c2|c3"},
		{"IP-15: negative ones, as Ordered gives", []func(*corev1.Pod){priority(0, "0"), priority(1, "-1"), priority(2, "-2")}, nil, allImages, "c1|c2|c3"},
		{"IP-15: equal ones go together", []func(*corev1.Pod){priority(0, "1"), priority(1, "5"), priority(2, "5")}, nil, allImages, "c2,c3|c1"},
		{"IP-E12: only one has a priority", []func(*corev1.Pod){priority(1, "5")}, nil, allImages, "c1,c2,c3"},
		{"IP-15: those without one go first", []func(*corev1.Pod){priority(0, "1"), priority(1, "5")}, nil, allImages, "c2,c3|c1"},
		{"IP-15: unchanged containers do not count", []func(*corev1.Pod){priority(0, "20"), priority(1, "10"), priority(2, "0")}, nil, allImages[1:], "c2|c3"},
		{"IP-E17: a priority that is no number is none", []func(*corev1.Pod){priority(0, "high"), priority(1, "5")}, nil, allImages, "c1,c2,c3"},
		{
			"IP-E11, LP-15: a shared label", []func(*corev1.Pod){priority(0, "20"), priority(1, "10")},
			[]change{k(0), k(1)}, []change{label("k", "w")}, "c1,c2",
		},
		{
			"IP-16: transitively", []func(*corev1.Pod){priority(0, "20"), priority(1, "10"), priority(2, "0")},
			[]change{k(0), k(1), l(1), l(2)}, []change{label("k", "w"), annotate("a", "c")}, "c1,c2,c3",
		},
		{
			"IP-16: a container with an image only shares nothing", []func(*corev1.Pod){priority(0, "20"), priority(1, "10"), priority(2, "0")},
			[]change{k(1), k(2)}, []change{image(0, "c1:2"), label("k", "w")}, "c1|c2,c3",
		},
		{
			"IP-16: a label and an annotation of one key are two", []func(*corev1.Pod){priority(0, "20"), priority(1, "10")},
			[]change{env(0, "K", "metadata.labels['a']"), l(1), label("a", "1")}, []change{label("a", "2"), annotate("a", "c")}, "c1|c2",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			from := template(tt.both...)
			to := template(append(tt.both, tt.changes...)...)
			pod := begin(t, running(from, tt.priorities...), calculate(t, from, to), 0)
			for range 5 {
				kubelet(pod)
				agent(t, pod)
				pod, _ = refresh(t, pod, after(60))
			}
			var got []string
			for _, b := range state(t, pod).ContainerBatchesRecord {
				got = append(got, strings.Join(b.Containers, ","))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "|")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if condition(pod, v1alpha1.InPlaceUpdateReady) != "True" {
				t.Errorf("the update did not end: %s", condition(pod, v1alpha1.InPlaceUpdateReady))
			}
			if diff := cmp.Diff(images(running(to)), images(pod)); diff != "" {
				t.Errorf("images: %s", diff)
			}
			if diff := cmp.Diff(to.Labels["k"]+to.Annotations["a"], pod.Labels["k"]+pod.Annotations["a"]); diff != "" {
				t.Errorf("metadata: %s", diff)
			}
		})
	}
}
