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

// Many changes are made at once, and yet each is found that alone changes the plan. A few seeds may miss a field that is read only if
// another has its value.
func TestChanging(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}}}
	pod.Spec.Containers = []corev1.Container{{Name: "main", Image: "nginx"}, {Name: "log", Image: "busybox"}}
	pod.Status.Reason = "Evicted"
	for name, test := range map[string]struct {
		of   func(*corev1.Pod) string
		want []string
		miss int // seeds that may not find it
	}{
		"nothing is read": {func(*corev1.Pod) string { return "" }, nil, 0},
		"a field":         {func(p *corev1.Pod) string { return p.Spec.Hostname }, []string{".Spec.Hostname"}, 0},
		"a field of an absent struct": {func(p *corev1.Pod) string {
			return fmt.Sprint(p.Spec.SecurityContext != nil && p.Spec.SecurityContext.RunAsUser != nil)
		}, []string{".Spec.SecurityContext.RunAsUser"}, 0},
		"a field of a container": {func(p *corev1.Pod) string {
			if len(p.Spec.Containers) != 2 {
				return ""
			}
			return p.Spec.Containers[1].WorkingDir
		}, []string{".Spec.Containers[].WorkingDir"}, 0},
		"a label":    {func(p *corev1.Pod) string { return p.Labels["app"] }, []string{".ObjectMeta.Labels[app]"}, 0},
		"two fields": {func(p *corev1.Pod) string { return p.Spec.Hostname + p.Status.Message }, []string{".Spec.Hostname", ".Status.Message"}, 0},
		"a field beside the value of another": {func(p *corev1.Pod) string {
			if p.Status.Reason != "Evicted" {
				return ""
			}
			return p.Status.Message
		}, []string{".Status.Message"}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			p, missed := Plan[corev1.Pod]{Copy: (*corev1.Pod).DeepCopy, Of: test.of}, []string{}
			for seed := range uint64(30) {
				got := p.changing(pod, Of(pod), seed)
				slices.Sort(got)
				if diff := cmp.Diff(test.want, slices.Compact(got)); diff != "" {
					missed = append(missed, diff)
				}
			}
			if len(missed) > test.miss {
				t.Errorf("%d of 30 seeds, want at most %d; the first one (-want +got):\n%s", len(missed), test.miss, missed[0])
			}
		})
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
