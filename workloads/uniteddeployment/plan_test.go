// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/internal/podplan"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// words says what a plan does, without what is generated in names.
func words(plan *Plan) []string {
	var lines []string
	for line := range strings.Lines(plan.String()) {
		fields := strings.Fields(line)
		for i, field := range fields {
			if parts := strings.Split(strings.TrimSuffix(field, ","), "-"); len(parts) == 3 && parts[0] == "web" && len(parts[2]) == 5 {
				fields[i] = strings.Replace(field, parts[2], "X", 1)
			} else if len(parts) == 2 && parts[0] == "web" && len(parts[1]) > 5 {
				fields[i] = "web-R"
			}
		}
		lines = append(lines, strings.Join(fields, " "))
	}
	return lines
}

func expect(t *testing.T, plan *Plan, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, words(plan)); diff != "" {
		t.Errorf("the plan (-want +got):\n%s", diff)
	}
}

// set is the present workload of a subset.
func (w *world) set(subset string) Child {
	w.Helper()
	for _, c := range w.children() {
		if c.Subset == subset {
			return c
		}
	}
	w.Fatalf("the subset %s has no workload", subset)
	return Child{}
}

// edit changes the UnitedDeployment.
func (w *world) edit(change func(*v1alpha1.UnitedDeploymentSpec)) {
	w.Set = w.Set.DeepCopy()
	change(&w.Set.Spec)
	w.Set.Generation++
}

// edited makes a copy of a workload that another client has changed.
func edited[T metav1.Object](w *world, object T, change func(T)) {
	object = any(any(object).(runtime.Object).DeepCopyObject()).(T)
	change(object)
	w.put(object)
}

// The life of a UnitedDeployment of each kind.
func TestPlans(t *testing.T) {
	for _, kind := range kinds {
		t.Run(string(kind), func(t *testing.T) {
			is := func(format string) string { return strings.ReplaceAll(format, "K", string(kind)) }
			w := newWorld(t, newSet(t, "replicas: 5", templateYAML(kind, "")))
			expect(t, NewPlan(&w.Snapshot), "create revision web-R (1)", is("create K web-a-X for a with 2 pods"), is("create K web-b-X for b with 3 pods"))
			w.settle()
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Replicas = new(int32(7)) })
			expect(t, NewPlan(&w.Snapshot), is("scale K web-a-X of a: 3 pods, partition 0"), is("scale K web-b-X of b: 4 pods, partition 0"))
			w.settle()
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
				podTemplate(&s.Template).Spec.Containers[0].Image = "nginx:1.22"
				s.UpdateStrategy.ManualUpdate = &v1alpha1.ManualUpdate{Partitions: map[string]int32{"a": 100, "b": 1}}
			})
			expect(t, NewPlan(&w.Snapshot), "create revision web-R (2)", is("update K web-a-X of a: 3 pods, partition 3"), is("update K web-b-X of b: 4 pods, partition 1"))
			plan := w.settle()
			want := map[string]int32{"a": 3, "b": 1}
			if diff := cmp.Diff(want, plan.Status.UpdateStatus.CurrentPartitions); diff != "" {
				t.Errorf("UD-4: partitions (-want +got):\n%s", diff)
			}
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.UpdateStrategy.ManualUpdate = nil })
			if plan := NewPlan(&w.Snapshot); kind == Deployment { // UD-4: it has no partition
				expect(t, plan)
			} else {
				expect(t, plan, is("scale K web-a-X of a: 3 pods, partition 0"), is("scale K web-b-X of b: 4 pods, partition 0"))
			}
			w.settle()
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
				s.Topology.Subsets = append(s.Topology.Subsets[1:], v1alpha1.Subset{Name: "c"})
			})
			expect(t, NewPlan(&w.Snapshot), is("create K web-c-X for c with 3 pods"), is("delete K web-a-X"))
			w.settle()
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Replicas = new(int32(0)) })
			w.settle()
			if got := len(w.children()); got != 2 {
				t.Errorf("UD-5: %d workloads with 0 replicas, want 2", got)
			}
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Topology.Subsets = nil })
			w.settle()
			if got := len(w.children()); got != 0 {
				t.Errorf("UD-5: %d workloads without subsets, want none", got)
			}
		})
	}
}

func TestPlanUnusual(t *testing.T) {
	for _, test := range []struct {
		name  string
		lines []string
		do    func(w *world)
		want  []string
	}{
		{"UD-5: another kind of template", nil, func(w *world) {
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
				s.Template = newSet(w, templateYAML(Deployment, "")).Spec.Template
			})
		}, []string{"create revision web-R (2)", "create Deployment web-a-X for a with 0 pods", "create Deployment web-b-X for b with 1 pods", "delete CloneSet web-a-X", "delete CloneSet web-b-X"}},
		{"UD-2: two workloads of one subset", nil, func(w *world) {
			edited(w, w.CloneSets[0], func(o *v1alpha1.CloneSet) {
				o.Name, o.UID, o.CreationTimestamp = "web-a-other", "other", metav1.NewTime(time.Unix(1, 0))
			})
		}, []string{"delete CloneSet web-a-X"}},
		{"UD-2: one that is being deleted does not count", nil, func(w *world) {
			edited(w, w.CloneSets[0], func(o *v1alpha1.CloneSet) { o.DeletionTimestamp = &metav1.Time{} })
		}, []string{"create CloneSet web-a-X for a with 0 pods"}},
		{"UD-2.1: an orphan is adopted", nil, func(w *world) {
			edited(w, w.CloneSets[0], func(o *v1alpha1.CloneSet) { o.OwnerReferences = nil })
		}, []string{"adopt CloneSet web-a-X for a"}},
		{"UD-2.1: an orphan beside a workload is not", nil, func(w *world) {
			edited(w, w.CloneSets[0], func(o *v1alpha1.CloneSet) { o.UID, o.OwnerReferences = "other", nil })
		}, nil},
		{"UD-2.1: nor is one of no subset", nil, func(w *world) {
			edited(w, w.CloneSets[0], func(o *v1alpha1.CloneSet) {
				o.UID, o.OwnerReferences, o.Labels[v1alpha1.SubsetNameLabel] = "other", nil, "z"
			})
		}, nil},
		{"UD-2.2: what the selector does not match is released", nil, func(w *world) {
			edited(w, w.CloneSets[0], func(o *v1alpha1.CloneSet) { o.Labels["app"] = "other" })
		}, []string{"release CloneSet web-a-X", "create CloneSet web-a-X for a with 0 pods"}},
		{"UD-2.3: the label of the subset is gone", nil, func(w *world) {
			edited(w, w.CloneSets[0], func(o *v1alpha1.CloneSet) { delete(o.Labels, v1alpha1.SubsetNameLabel) })
		}, []string{"update CloneSet web-a-X of a: 0 pods, partition 0"}},
		{"UD-2.3: a workload of no subset at all stays", nil, func(w *world) {
			edited(w, w.CloneSets[0], func(o *v1alpha1.CloneSet) {
				o.UID = "other"
				delete(o.Labels, v1alpha1.SubsetNameLabel)
				delete(o.Spec.Selector.MatchLabels, v1alpha1.SubsetNameLabel)
			})
		}, nil},
		{"UD-2: a workload of somebody else", nil, func(w *world) {
			edited(w, w.CloneSets[0], func(o *v1alpha1.CloneSet) { o.UID, o.OwnerReferences[0].UID = "other", "another" })
		}, nil},
		{"UD-10.1: replicas that somebody has changed", []string{"replicas: 2"}, func(w *world) {
			edited(w, w.CloneSets[1], func(o *v1alpha1.CloneSet) { o.Spec.Replicas = new(int32(9)) })
		}, []string{"scale CloneSet web-b-X of b: 1 pods, partition 0"}},
		{"UD-10.1: a partition that somebody has changed", nil, func(w *world) {
			edited(w, w.CloneSets[1], func(o *v1alpha1.CloneSet) { o.Spec.UpdateStrategy.Partition = new(intstr.FromString("10%")) })
		}, []string{"scale CloneSet web-b-X of b: 1 pods, partition 0"}},
		{"UD-10.3: another field that somebody has changed", nil, func(w *world) {
			edited(w, w.CloneSets[1], func(o *v1alpha1.CloneSet) { o.Spec.MinReadySeconds = 5 })
		}, nil},
		{"UD-10.1: the partition of OnDelete does not count", []string{templateYAML(StatefulSet, "updateStrategy: {type: OnDelete}, "), "updateStrategy: {manualUpdate: {partitions: {b: 1}}}"}, func(*world) {}, nil},
		{"UD-9: another term of nodes", nil, func(w *world) {
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
				s.Topology = newSet(w, "topology: {subsets: [{name: a, nodeSelectorTerm: {matchExpressions: [{key: zone, operator: Exists}]}}, {name: b}]}").Spec.Topology
			})
		}, []string{"update CloneSet web-a-X of a: 0 pods, partition 0"}},
		{"UD-9: another patch", nil, func(w *world) {
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
				s.Topology.Subsets[1].Patch = rawExtension(`{"spec":{"priorityClassName":"low"}}`)
			})
		}, []string{"update CloneSet web-b-X of b: 1 pods, partition 0"}},
		{"UD-9: workloads that OpenKruise has written", nil, func(w *world) {
			for _, o := range w.CloneSets {
				edited(w, o, func(o *v1alpha1.CloneSet) { delete(o.Labels, hashLabel) })
			}
		}, nil},
		{"UD-9: Advanced StatefulSets that OpenKruise 1.8 has written, and 1.7 before", []string{templateYAML(AdvancedStatefulSet, "")}, func(w *world) {
			for _, o := range w.AdvancedStatefulSets {
				edited(w, o, func(o *v1beta1.StatefulSet) {
					o.Labels[v1alpha1.SubsetRevisionLabel] = o.Labels[appsv1.ControllerRevisionHashLabelKey]
					o.Labels[appsv1.ControllerRevisionHashLabelKey] = "web-older"
					delete(o.Labels, hashLabel)
				})
			}
		}, nil},
		{"UD-9: Advanced StatefulSets that OpenKruise 1.8 has written before podwright", []string{templateYAML(AdvancedStatefulSet, "")}, func(w *world) {
			for _, o := range w.AdvancedStatefulSets {
				edited(w, o, func(o *v1beta1.StatefulSet) { o.Labels[v1alpha1.SubsetRevisionLabel] = "web-older" })
			}
		}, nil},
		{"UD-1: no template", nil, func(w *world) {
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Template = v1alpha1.SubsetTemplate{} })
		}, []string{"problem: spec.template: " + oneTemplate}},
		{"UD-1: a kind that is not served", nil, func(w *world) { w.Without = []TemplateKind{CloneSet} },
			[]string{"problem: spec.template: workloads of the kind CloneSet are not served here: install the kind, or use another template"}},
		{"UD-12.4: replicas that cannot be read", nil, func(w *world) {
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
				s.Topology.Subsets[0].Replicas, s.Replicas = new(intstr.FromString("x")), new(int32(9))
			})
		}, []string{`problem: spec.topology.subsets[0].replicas: Invalid value: "x": must be a number of pods or a whole percentage from 0% to 100%, is "x"`}},
		{"UD-12.4: a patch that cannot be applied", nil, func(w *world) {
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
				s.Topology.Subsets[0].Patch, s.Replicas = rawExtension(`{"spec":{"containers":7}}`), new(int32(9))
			})
		}, []string{"problem: spec.topology.subsets[0].patch: "}},
		{"UD-20: limits that are not read", []string{"replicas: 4", "topology: {subsets: [{name: a, maxReplicas: 1}, {name: b}]}"}, func(*world) {}, nil},
		{"UD-20: limits that are read", []string{"replicas: 4", "topology: {subsets: [{name: a, maxReplicas: 1}, {name: b}]}"}, func(w *world) { w.Features.AdaptiveScheduling = true },
			[]string{"scale CloneSet web-a-X of a: 1 pods, partition 0", "scale CloneSet web-b-X of b: 3 pods, partition 0"}},
		{"UD-13: it is being deleted", nil, func(w *world) {
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Replicas = new(int32(9)) })
			w.Set.DeletionTimestamp = &metav1.Time{}
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, newSet(t, test.lines...))
			w.settle()
			test.do(w)
			got := words(NewPlan(&w.Snapshot))
			for i := range got {
				if i < len(test.want) && strings.HasSuffix(test.want[i], ": ") { // the rest is another writer's
					got[i] = got[i][:min(len(got[i]), len(test.want[i]))]
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the plan (-want +got):\n%s", diff)
			}
		})
	}
	if plan := NewPlan(nil); len(plan.Problems) == 0 {
		t.Error("no problem without a UnitedDeployment")
	}
}

// UD-10.3: what another client has set stays, what an earlier template has set goes, also if
// that template is not known any more.
func TestUpdateKeepsWhatOthersSet(t *testing.T) {
	for _, forgotten := range []bool{false, true} {
		t.Run(fmt.Sprint("the revision is forgotten: ", forgotten), func(t *testing.T) {
			w := newWorld(t, newSet(t, templateYAML(CloneSet, "minReadySeconds: 5, ")))
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
				podTemplate(&s.Template).Spec.NodeSelector = map[string]string{"disk": "ssd"}
				s.Template.CloneSetTemplate.Annotations = map[string]string{"template": "1"}
			})
			w.settle()
			edited(w, w.CloneSets[1], func(o *v1alpha1.CloneSet) {
				o.Spec.ScaleStrategy.DisablePVCReuse, o.Annotations["own"], o.Labels["own"] = true, "1", "1"
			})
			if forgotten {
				w.Revisions = nil
			}
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
				s.Template = newSet(t, templateYAML(CloneSet, "")).Spec.Template
				s.Topology.Subsets[1].Patch = rawExtension(`{"spec":{"priorityClassName":"low"}}`)
			})
			w.settle()
			o := w.set("b").Object.(*v1alpha1.CloneSet)
			if o.Spec.Template.Spec.NodeSelector != nil || o.Spec.Template.Spec.PriorityClassName != "low" {
				t.Errorf("the pod template is %v", o.Spec.Template.Spec)
			}
			if !o.Spec.ScaleStrategy.DisablePVCReuse || o.Annotations["own"] == "" || o.Labels["own"] == "" || o.Annotations["template"] == "" {
				t.Errorf("what others have set is gone: %v, labels %v, annotations %v", o.Spec.ScaleStrategy, o.Labels, o.Annotations)
			}
			if want := map[bool]int32{false: 0, true: 5}[forgotten]; o.Spec.MinReadySeconds != want {
				t.Errorf("minReadySeconds is %d, want %d", o.Spec.MinReadySeconds, want)
			}
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Topology.Subsets[1].Patch = nil })
			w.settle()
			o = w.set("b").Object.(*v1alpha1.CloneSet)
			if o.Spec.Template.Spec.PriorityClassName != "" || o.Annotations[patchAnnotation] != "" {
				t.Errorf("the patch is left: %v, annotations %v", o.Spec.Template.Spec, o.Annotations)
			}
		})
	}
}

// UD-11: of the pods for which a StatefulSet of Kubernetes waits, the one that blocks its update is deleted. That is one of each
// subset at most. One that was ready is deleted only after it has not been ready for minutes.
func TestDeletePods(t *testing.T) {
	for name, test := range map[string]struct {
		more string // in the spec of the template
		// pods has a letter for each ordinal. Old pods are ready (o), never were (x), or were a minute (m) or an hour (h) ago.
		// Others never were since their kubelet took them a minute ago (k). Old pods also terminate (t), were ready until then
		// (T), or have failed (f). Updated ones are ready (U) or not (N). A dash (-) is no pod.
		pods string
		want []int // ordinals that are deleted
		left []int // that are left for now
	}{
		"UD-11: one that never was ready":                 {pods: "oxoN", want: []int{1}},
		"UD-11: one that is held back":                    {pods: "xxoo"},
		"UD-11: an updated one":                           {pods: "oNxo"},
		"UD-11: nothing blocks":                           {pods: "oooU"},
		"UD-11.1: one of many":                            {pods: "oxxx", want: []int{1}},
		"UD-11.1: one that terminates comes first":        {pods: "otho"},
		"UD-11.1: one that serves and terminates":         {pods: "oTho"},
		"UD-11.1: Parallel, the same":                     {more: "podManagementPolicy: Parallel, ", pods: "ohoT"},
		"UD-11.1: a missing one comes first":              {pods: "o-ho"},
		"UD-11.1: one that has failed is replaced anyway": {pods: "ofho"},
		"UD-11.1: missing ones behind it":                 {pods: "oh--", want: []int{1}},
		"UD-11.1: Parallel":                               {more: "podManagementPolicy: Parallel, ", pods: "xxxU", want: []int{2}},
		"UD-11.1: Parallel, an updated one":               {more: "podManagementPolicy: Parallel, ", pods: "oxxN"},
		"UD-11.1: Parallel, a missing one":                {more: "podManagementPolicy: Parallel, ", pods: "oxx-"},
		"UD-11.1: Parallel, all are held back":            {more: "podManagementPolicy: Parallel, ", pods: "xooU"},
		"UD-11: ordinals from 5, one is held back":        {more: "ordinals: {start: 5}, ", pods: "xooo"},
		"UD-11: ordinals from 5":                          {more: "ordinals: {start: 5}, ", pods: "oxoo", want: []int{6}},
		"UD-11.2: a hiccup":                               {pods: "ommm", left: []int{1}},
		"UD-11.2: a hiccup of the first":                  {pods: "omho", left: []int{1}},
		"UD-11.2: not ready for long":                     {pods: "ohmo", want: []int{1}},
		"UD-11.2: it waited for a node, and never was":    {pods: "okoo", want: []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, newSet(t, "replicas: 8", templateYAML(StatefulSet, test.more), "updateStrategy: {manualUpdate: {partitions: {b: 1}}}"))
			w.Now = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)
			old := w.settle().Revisions.Update.Name
			w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { podTemplate(&s.Template).Spec.Containers[0].Image = "bad" })
			w.settle()
			b := w.set("b")
			for i, letter := range test.pods {
				w.blocking(b.Object, i+int(b.start), letter, old, NewPlan(&w.Snapshot).Revisions.Update.Name)
			}
			w.pod(b.Object.GetName()+"-1", w.Set, old, false) // of another owner
			plan := NewPlan(&w.Snapshot)
			if diff := cmp.Diff([][]int{test.want, test.left}, [][]int{ordinalsOf(plan.DeletePods), ordinalsOf(plan.Blocking)}); diff != "" {
				t.Errorf("deleted, and left (-want +got):\n%s", diff)
			}
			if left := plan.RequeueAfter; len(test.left) > 0 && left != 4*time.Minute {
				t.Errorf("UD-11.2: planned again after %v", left)
			}
			edited(w, b.Object.(*appsv1.StatefulSet), func(o *appsv1.StatefulSet) { o.Generation = 7 })
			if got := NewPlan(&w.Snapshot).DeletePods; len(got) > 0 {
				t.Errorf("UD-11: %d pods of a StatefulSet whose controller has not seen the update", len(got))
			}
		})
	}
}

// blocking is a pod of a StatefulSet in the state that a letter stands for, see TestDeletePods.
func (w *world) blocking(of metav1.Object, ordinal int, state rune, old, present string) {
	if state == '-' {
		return
	}
	revision := old
	if state == 'U' || state == 'N' {
		revision = present
	}
	pod := w.pod(fmt.Sprint(of.GetName(), "-", ordinal), of, revision, state == 'o' || state == 'U' || state == 'T')
	pod.CreationTimestamp.Time = w.Now.Add(-24 * time.Hour)
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{ContainerID: "c"}}
	ago, unready := map[rune]time.Duration{'m': time.Minute, 'k': time.Minute, 'h': time.Hour, 't': time.Hour, 'f': time.Hour, 'x': 24 * time.Hour, 'N': time.Hour}[state]
	if unready {
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(w.Now.Add(-ago))}}
	}
	switch state {
	case 'k':
		pod.Status.StartTime = &metav1.Time{Time: w.Now.Add(-time.Minute)}
	case 't', 'T':
		pod.DeletionTimestamp = &metav1.Time{Time: w.Now}
	case 'f':
		pod.Status.Phase = corev1.PodFailed
	}
}

func ordinalsOf(pods []*corev1.Pod) (found []int) {
	for _, pod := range pods {
		_, n, _ := podplan.SplitOrdinal(pod.Name)
		found = append(found, int(n))
	}
	return found
}
