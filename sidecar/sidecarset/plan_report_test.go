// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// A revision that was written before the SidecarSet had its defaults differs from it in what users have changed alone. (SCS-14)
func TestNotUpgradableSinceWithoutDefaults(t *testing.T) {
	w := newWorld(t, `{containers: [{name: log, image: "log:v1"}]}`)
	w.add("a")
	w.settle()
	bare := w.set.DeepCopy()
	bare.Spec.Containers = []v1alpha1.SidecarContainer{{Container: corev1.Container{Name: "log", Image: "log:v1"}}}
	data, err := injection.RevisionData(bare)
	if err != nil {
		t.Fatal(err)
	}
	w.revisions[0].Data.Raw = data
	w.edit(`{containers: [{name: log, image: "log:v1", args: [x]}]}`)
	if c := conditionOf(w.sync().Status, notUpgradable); c == nil || !strings.Contains(c.Message, "(containers[log].args changed since") {
		t.Errorf("SCS-14: condition %+v", c)
	}
}

// Others are updated beside pods that cannot be, and the strategy counts without them.
// (SCS-14)
func TestNotUpgradableBesideOthers(t *testing.T) {
	for _, test := range []struct {
		name string
		act  func(*world)
		want string // of the first pod
	}{
		{"another hash without images", func(w *world) {
			records := w.pods[0].Annotations[v1alpha1.SidecarSetHashWithoutImageAnnotation]
			annotate(w, v1alpha1.SidecarSetHashWithoutImageAnnotation, strings.Replace(records, `"hash":"`, `"hash":"x`, 1))
		}, "NotUpgradable"},
		{"no record", func(w *world) { delete(w.pods[0].Annotations, v1alpha1.SidecarSetHashWithoutImageAnnotation) }, "NotUpgradable"},
		{"a record of another", func(w *world) {
			annotate(w, v1alpha1.SidecarSetHashWithoutImageAnnotation, `{"other":{"hash":"x","sidecarSetName":"other"}}`)
		}, "NotUpgradable"},
		{"a revision that is gone", func(w *world) {
			w.revisions = nil
			annotate(w, v1alpha1.SidecarSetHashWithoutImageAnnotation, `{"demo":{"hash":"x","sidecarSetName":"demo"}}`)
		}, "NotUpgradable"},
	} {
		w := many(t, "maxUnavailable: 1, partition: 1", 3, 0, 0)
		test.act(w)
		plan := w.plan()
		if got := strings.Join(updates(plan), " "); got != "p0001" || waits(plan, "p0000") != test.want || waits(plan, "p0002") != "Partition" {
			t.Errorf("%s: updated %s:\n%s", test.name, got, plan)
		}
	}
	w := many(t, "type: NotUpdate", 1, 0, 0)
	w.edit(`{containers: [{name: log, image: "log:v2", args: [x]}]}`)
	if plan := w.plan(); len(plan.NotUpgradable) > 0 || len(plan.Problems) > 0 {
		t.Errorf("that are not to be updated: %s", plan)
	}
	w = newWorld(t, `{initContainers: [{name: init, image: "init:v1"}]}`)
	w.add("a")
	w.settle()
	w.edit(`{initContainers: [{name: init, image: "init:v2"}]}`)
	if plan := w.plan(); len(plan.NotUpgradable)+len(plan.Waiting) > 0 || len(plan.Problems) > 0 {
		t.Errorf("without containers: %s", plan)
	}
}

// Which pods were missed. (SCS-22, SCS-23)
func TestNotInjected(t *testing.T) {
	edited := func(spec string) func(*world) {
		return func(w *world) {
			w.sync()
			w.now = noon.Add(time.Minute)
			w.edit(spec)
			w.sync()
			w.now = noon.Add(time.Hour)
		}
	}
	after := func(d time.Duration) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(noon.Add(d)) }
	}
	for _, test := range []struct {
		name string
		act  func(*world)
		pod  func(*corev1.Pod)
		want string // the rule; empty if it was not missed
	}{
		{"after the SidecarSet", nil, nil, "NotInjected"},
		{"before the SidecarSet", nil, after(-2 * time.Hour), ""},
		{"in its second", nil, after(-time.Hour), ""},
		{"in the next", nil, after(-time.Hour + time.Second), "NotInjected"},
		{"before its selector changed", edited("{selector: {matchExpressions: [{key: app, operator: Exists}]}}"), after(59 * time.Second), ""},
		{"when its selector changed", edited("{selector: {matchExpressions: [{key: app, operator: Exists}]}}"), after(time.Minute), ""},
		{"after its selector changed", edited("{selector: {matchExpressions: [{key: app, operator: Exists}]}}"), after(61 * time.Second), "NotInjected"},
		{"before its namespace changed", edited("{namespace: shop}"), after(time.Second), ""},
		{"before its image changed", edited(`{containers: [{name: log, image: "log:v2"}]}`), after(time.Second), "NotInjected"},
		{"while it was paused", func(w *world) {
			edited("{injectionStrategy: {paused: true}}")(w)
			w.edit("{injectionStrategy: {paused: false}}")
			w.now = noon.Add(2 * time.Hour)
		}, after(time.Hour), ""},
		{"it is paused", edited("{injectionStrategy: {paused: true}}"), after(2 * time.Hour), ""},
		{"nobody knows when the spec changed", func(w *world) { w.set.Generation = 2 }, nil, ""},
		{"not selected", nil, func(pod *corev1.Pod) { pod.Labels = nil }, ""},
		{"ended", nil, func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded }, ""},
		{"being deleted", nil, func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: noon} }, ""},
		{"a mirror pod", nil, func(pod *corev1.Pod) { pod.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"} }, ""},
		{"no webhook hears of it", func(w *world) {
			w.namespaces = map[string]*corev1.Namespace{"shop": {ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"control-plane": ""}}}}
		}, nil, ""},
		{"another was injected", nil, func(pod *corev1.Pod) {
			pod.Annotations = map[string]string{v1alpha1.SidecarSetInjectedListAnnotation: "other"}
		}, "NotInjected"},
		{"it is on the list, and lacks the container", nil, func(pod *corev1.Pod) {
			pod.CreationTimestamp = metav1.NewTime(noon.Add(-2 * time.Hour))
			pod.Annotations = map[string]string{v1alpha1.SidecarSetInjectedListAnnotation: "demo"}
		}, "Incomplete"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, logs)
			w.sync()
			if test.act != nil {
				test.act(w)
				w.set.Status.Selection = nilUnless(w.set.Status.Selection, test.name != "nobody knows when the spec changed")
			}
			pod := w.bare("a")
			if test.pod != nil {
				test.pod(pod)
			}
			w.pods = append(w.pods, pod)
			plan := w.plan()
			if got := waits(plan, "a"); got != test.want {
				t.Errorf("%q, want %q:\n%s", got, test.want, plan)
			}
			if test.want == "" {
				return
			}
			c := conditionOf(plan.Status, notInjected)
			if c == nil || c.Status != corev1.ConditionFalse || !strings.HasPrefix(c.Message, "1 pod without the sidecars: shop/a (") ||
				len(plan.Events) != 1 || plan.Events[0].Reason != EventNotInjected || len(plan.Patch) > 0 {
				t.Errorf("condition %+v:\n%s", c, plan)
			}
			w.sync()
			if plan := w.plan(); plan.Status != nil || len(plan.Events) > 0 {
				t.Errorf("once more: %s", plan)
			}
			w.pods = nil
			if plan := w.plan(); conditionOf(plan.Status, notInjected) != nil {
				t.Errorf("once it is gone: %s", plan)
			}
		})
	}
}

func nilUnless(s *v1alpha1.SidecarSetSelection, stays bool) *v1alpha1.SidecarSetSelection {
	if stays {
		return s
	}
	return nil
}

// What is wrong is reported, with the field and the value, and the rest goes on. (SCS-24)
func TestBadInput(t *testing.T) {
	for name, s := range map[string]*Snapshot{"no snapshot": nil, "no SidecarSet": {Now: noon}, "no time": {Set: newWorld(t, logs).set}} {
		if plan := NewPlan(s); len(plan.Problems) != 1 || plan.Status != nil || len(plan.Patch) > 0 {
			t.Errorf("%s: %s", name, plan)
		}
	}
	for _, test := range []struct {
		name string
		act  func(*world)
		want string // a problem with that
	}{
		{"nil pods", func(w *world) { w.pods = append(w.pods, nil) }, "nil left out"},
		{"nil revisions", func(w *world) { w.revisions = append(w.revisions, nil) }, "nil left out"},
		{"no selector", func(w *world) { w.set.Spec.Selector = nil }, "spec.selector is empty"},
		{"an empty selector", func(w *world) { w.set.Spec.Selector = &metav1.LabelSelector{} }, "spec.selector is empty"},
		{"a selector that cannot be read", func(w *world) { w.set.Spec.Selector.MatchLabels["a b"] = "c" }, `spec.selector cannot be read: key: Invalid value: "a b"`},
		{"a namespaceSelector that cannot be read", func(w *world) {
			w.set.Spec.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"a b": "c"}}
		}, "spec.namespaceSelector cannot be read"},
		{"a selector of the update", func(w *world) {
			w.set.Spec.UpdateStrategy.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a b": "c"}}
		}, `spec.updateStrategy.selector: key: Invalid value: "a b"`},
		{"partition", func(w *world) { w.edit("{updateStrategy: {partition: x}}") }, `spec.updateStrategy.partition: found "x"`},
		{"maxUnavailable", func(w *world) { w.edit("{updateStrategy: {maxUnavailable: x%}}") }, `spec.updateStrategy.maxUnavailable: found "x%"`},
	} {
		w := newWorld(t, logs)
		w.add("a")
		w.settle()
		w.image("log", "log:v2")
		test.act(w)
		plan := w.plan()
		if len(plan.Problems) != 1 || !strings.Contains(plan.Problems[0].Err.Error(), test.want) || conditionOf(plan.Status, failedUpdate) == nil {
			t.Errorf("%s: want a problem with %s:\n%s", test.name, test.want, plan)
		}
		if wants := strings.HasPrefix(test.name, "nil"); (len(updates(plan)) > 0) != wants {
			t.Errorf("%s: %s", test.name, plan)
		}
	}
	s := &Snapshot{Set: &v1alpha1.SidecarSet{}, Pods: []*corev1.Pod{{}}, Now: noon}
	if plan := NewPlan(s); len(plan.Problems) != 1 {
		t.Errorf("an empty SidecarSet: %s", plan)
	}
}

// What a plan says of itself.
func TestPlanString(t *testing.T) {
	w := newWorld(t, logs)
	w.set.Labels = map[string]string{v1alpha1.SidecarSetCustomVersionLabel: "v1"}
	w.add("a", "b")
	w.settle()
	w.revisions[0].Labels = nil
	w.pods[1].Annotations = nil
	w.set.Status.MatchedPods = 2
	want := `update revision demo-d6dcf979f
problem Injected: 1 pod without the sidecars: shop/b (it was created without the sidecars: recreate it once injection works)
label revision demo-d6dcf979f as custom version v1
not injected b: it was created without the sidecars: recreate it once injection works
write the status: 1 pods matched, 1 updated, 1 ready, 1 updated and ready
record the event Warning NotInjectedPods: 1 pod without the sidecars: shop/b (it was created without the sidecars: recreate it once injection works)`
	if diff := cmp.Diff(want, w.plan().String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := (Plan{Plan: rollout.Plan{}}).String(); got != "no revision" {
		t.Errorf("an empty plan: %s", got)
	}
}

// Of several revisions with the same containers the condition names the newest, in
// whatever order the cache has them. Otherwise the status would change again and again.
// (SCS-14)
func TestNotUpgradableSince(t *testing.T) {
	w := newWorld(t, logs)
	w.add("a")
	w.settle()
	w.edit(`{patchPodMetadata: [{annotations: {team: x}}]}`)
	w.settle()
	newest := w.set.Status.LatestRevision
	w.edit(`{containers: [{name: log, image: "log:v1", args: [x]}]}`)
	w.settle()
	for range 2 {
		slices.Reverse(w.revisions)
		plan := w.plan()
		if len(plan.NotUpgradable) != 1 || !strings.Contains(plan.NotUpgradable[0].Reason.Message, newest) || acts(plan) {
			t.Errorf("want revision %s, and nothing to do: %s", newest, plan)
		}
	}
}
