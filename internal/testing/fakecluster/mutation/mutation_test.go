// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestOf(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "nginx"}}
	untouched := pod.DeepCopy()
	var paths []string
	for _, m := range Of(pod) {
		changed := pod.DeepCopy()
		m.Apply(changed)
		if equality.Semantic.DeepEqual(changed, pod) {
			continue // an absent thing that is empty
		}
		paths = append(paths, m.Path)
	}
	for _, want := range []string{
		".ObjectMeta.Labels[app]", ".ObjectMeta.Labels[new]", ".ObjectMeta.DeletionTimestamp", ".ObjectMeta.OwnerReferences[].Controller",
		".Spec.Containers", ".Spec.Containers[].Image", ".Status.Phase", ".Status.Conditions[].Status",
	} {
		if !slices.Contains(paths, want) {
			t.Errorf("nothing changes %s", want)
		}
	}
	if !equality.Semantic.DeepEqual(untouched, pod) {
		t.Error("the object itself was changed")
	}
}

func TestCheckFindsWhatIsRead(t *testing.T) {
	reads := Reads{}
	Plan[corev1.Pod]{What: "pod", Copy: (*corev1.Pod).DeepCopy, Can: regexp.MustCompile(`^\.Status|^\.Spec\.NodeName`),
		Of:      func(p *corev1.Pod) string { return string(p.Status.Phase) + p.Labels["app"] },
		Matters: func(before, after *corev1.Pod) bool { return before.Status.Phase != after.Status.Phase },
	}.Check(t, reads, &corev1.Pod{})
	if len(reads) != 1 || !reads["pod.Status.Phase"] {
		t.Errorf("read: %v", reads)
	}
}

// Many changes are made at once, and yet each is found that alone changes the plan.
func TestChanging(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "nginx"}, {Name: "log", Image: "busybox"}}
	pod.Status.Reason = "Evicted"
	for name, test := range map[string]struct {
		of   func(*corev1.Pod) string
		want []string
	}{
		"nothing is read": {func(*corev1.Pod) string { return "" }, nil},
		"a field":         {func(p *corev1.Pod) string { return p.Spec.Hostname }, []string{".Spec.Hostname"}},
		"a field of an absent struct": {func(p *corev1.Pod) string {
			return fmt.Sprint(p.Spec.SecurityContext != nil && p.Spec.SecurityContext.RunAsUser != nil)
		}, []string{".Spec.SecurityContext.RunAsUser"}},
		"a field of a container": {func(p *corev1.Pod) string {
			if len(p.Spec.Containers) != 2 {
				return ""
			}
			return p.Spec.Containers[1].WorkingDir
		}, []string{".Spec.Containers[].WorkingDir"}},
		"a label":    {func(p *corev1.Pod) string { return p.Labels["app"] }, []string{".ObjectMeta.Labels[app]"}},
		"two fields": {func(p *corev1.Pod) string { return p.Spec.Hostname + p.Status.Message }, []string{".Spec.Hostname", ".Status.Message"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := Plan[corev1.Pod]{Copy: (*corev1.Pod).DeepCopy, Of: test.of}
			for seed := range uint64(10) {
				got := p.changing(pod, Of(pod), seed)
				slices.Sort(got)
				if diff := cmp.Diff(test.want, slices.Compact(got)); diff != "" {
					t.Errorf("seed %d (-want +got):\n%s", seed, diff)
				}
			}
		})
	}
}

// A field that is read only if another has its value is found by most seeds.
func TestChangingOfTwo(t *testing.T) {
	pod := &corev1.Pod{Status: corev1.PodStatus{Reason: "Evicted"}}
	p := Plan[corev1.Pod]{Copy: (*corev1.Pod).DeepCopy, Of: func(p *corev1.Pod) string {
		if p.Status.Reason != "Evicted" {
			return ""
		}
		return p.Status.Message
	}}
	found := 0
	for seed := range uint64(100) {
		if slices.Contains(p.changing(pod, Of(pod), seed), ".Status.Message") {
			found++
		}
	}
	if found < 90 {
		t.Errorf("found by %d of 100 seeds", found)
	}
}

func TestChangingTogether(t *testing.T) {
	p := Plan[corev1.Pod]{Copy: (*corev1.Pod).DeepCopy, Of: func(p *corev1.Pod) string {
		return fmt.Sprint(p.Spec.Hostname != "" && p.Status.Message != "")
	}}
	both := slices.DeleteFunc(Of(&corev1.Pod{}), func(m Mutation) bool { return m.Path != ".Spec.Hostname" && m.Path != ".Status.Message" })
	if got := p.changing(&corev1.Pod{}, both, 1); len(got) != 1 || !strings.Contains(got[0], " and ") {
		t.Errorf("got %q", got)
	}
}
