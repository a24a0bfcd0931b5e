// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/fakecluster/mutation"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// describe says what a plan does.
func describe(plan *Plan) string {
	status, _ := json.Marshal(plan.Status)
	text := fmt.Sprint(plan, string(status), plan.Resolved, plan.Kept, plan.Closed, plan.Reopened, plan.RequeueAfter)
	for _, subset := range plan.Subsets {
		text += fmt.Sprint(subset.Name, subset.Replicas, subset.Partition)
	}
	for i := range plan.Update {
		text += string(plan.Update[i].Child.scalePatch(plan.Update[i].Replicas, plan.Update[i].Partition))
	}
	return text
}

// informed are options whose informer holds a UnitedDeployment.
func informed(t *testing.T, set *v1alpha1.UnitedDeployment) *Options {
	o := &Options{UnitedDeployments: cache.NewSharedIndexInformer(nil, &v1alpha1.UnitedDeployment{}, 0, cache.Indexers{})}
	if err := caches.AddIndexes(o.UnitedDeployments, caches.ByNamespace); err != nil {
		t.Fatal(err)
	}
	if err := o.UnitedDeployments.GetIndexer().Add(set); err != nil {
		t.Fatal(err)
	}
	return o
}

// situations are UnitedDeployments in the midst of something.
func situations(t *testing.T, kind TemplateKind) map[string]*world {
	all := map[string]*world{}
	situation := func(name, lines, more string, then func(*world)) {
		w := newWorld(t, newSet(t, "replicas: 5", templateYAML(kind, more), lines, "updateStrategy: {manualUpdate: {partitions: {b: 1}}}"))
		first := w.settle().Revisions.Update.Name
		for _, c := range w.children() {
			for i := range int(c.Replicas) {
				w.pod(fmt.Sprint(c.Object.GetName(), "-", i), c.Object, first, i > 0)
			}
		}
		then(w)
		all[name] = w
	}
	image := func(w *world) {
		w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { podTemplate(&s.Template).Spec.Containers[0].Image = "nginx:2" })
	}
	situation("settled", "revisionHistoryLimit: 3", "", func(*world) {})
	situation("an update begins", "revisionHistoryLimit: 0", "", image)
	situation("an update is under way", "revisionHistoryLimit: 0", "", func(w *world) { image(w); w.do(NewPlan(&w.Snapshot)) })
	situation("OnDelete", "revisionHistoryLimit: 0", map[bool]string{true: "updateStrategy: {type: OnDelete}, "}[strings.HasSuffix(string(kind), "StatefulSet")], image)
	situation("scaled", "revisionHistoryLimit: 3", "", func(w *world) { w.edit(func(s *v1alpha1.UnitedDeploymentSpec) { s.Replicas = new(int32(8)) }) })
	situation("no room", "revisionHistoryLimit: 3", "", func(w *world) {
		w.Features.AdaptiveScheduling, w.Now = true, start
		w.edit(func(s *v1alpha1.UnitedDeploymentSpec) {
			s.Topology.ScheduleStrategy.Type = v1alpha1.AdaptiveUnitedDeploymentScheduleStrategyType
		})
		for _, pod := range w.Pods {
			if kind == Deployment {
				pod.OwnerReferences[0].Kind = "ReplicaSet"
			}
			pod.CreationTimestamp, pod.Spec.NodeName = metav1.NewTime(start.Add(-time.Hour)), "node"
		}
		last := w.Pods[len(w.Pods)-1]
		last.Spec.NodeName, last.Status = "", corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}}
		b := w.set("b")
		w.put(w.patched(b.Object, fmt.Appendf(nil, `{"status":{"replicas":%d}}`, b.Replicas)))
	})
	return all
}

// The filter of events is tested against the planner itself. If a change of a UnitedDeployment, or of what it reads, changes the
// plan, the UnitedDeployment is enqueued.
func TestEventsThatMatter(t *testing.T) {
	for _, kind := range kinds {
		reads := mutation.Reads{}
		for name, w := range situations(t, kind) {
			t.Run(string(kind)+" "+name, func(t *testing.T) {
				o := informed(t, w.Set)
				ofPods := podFields
				if o.Features.AdaptiveScheduling = w.Features.AdaptiveScheduling; o.Features.AdaptiveScheduling {
					ofPods |= scheduling
				}
				of := func(change func(*Snapshot)) string {
					s := w.Snapshot
					s.Pods, s.Revisions = slices.Clone(s.Pods), slices.Clone(s.Revisions)
					s.StatefulSets, s.AdvancedStatefulSets, s.CloneSets, s.Deployments = slices.Clone(s.StatefulSets), slices.Clone(s.AdvancedStatefulSets), slices.Clone(s.CloneSets), slices.Clone(s.Deployments)
					change(&s)
					return describe(NewPlan(&s))
				}
				mutation.Plan[v1alpha1.UnitedDeployment]{What: "Set", Copy: (*v1alpha1.UnitedDeployment).DeepCopy,
					Can: regexp.MustCompile(mutation.Metadata + `|^\.Status`), Of: func(set *v1alpha1.UnitedDeployment) string { return of(func(s *Snapshot) { s.Set = set }) },
					Matters: mutation.Declared[v1alpha1.UnitedDeployment](setFields)}.Check(t, reads, w.Set)
				mutation.Plan[corev1.Pod]{What: "Pod", Copy: (*corev1.Pod).DeepCopy, Can: regexp.MustCompile(mutation.Metadata + `|OwnerReferences|` + mutation.OfPods),
					Of:      func(pod *corev1.Pod) string { return of(func(s *Snapshot) { s.Pods[len(s.Pods)-1] = pod }) },
					Matters: matters(ofPods, o.podChanged)}.Check(t, reads, w.Pods[len(w.Pods)-1])
				last := len(w.Revisions) - 1
				mutation.Plan[appsv1.ControllerRevision]{What: "Revision", Copy: (*appsv1.ControllerRevision).DeepCopy, Can: regexp.MustCompile(mutation.Metadata + `|OwnerReferences|^\.Revision`),
					Of:      func(r *appsv1.ControllerRevision) string { return of(func(s *Snapshot) { s.Revisions[last] = r }) },
					Matters: mutation.Declared[appsv1.ControllerRevision](revisionFields)}.Check(t, reads, w.Revisions[last])
				can := regexp.MustCompile(mutation.Metadata + `|OwnerReferences|^\.Status|^\.Spec\.(Replicas|UpdateStrategy)`)
				switch kind {
				case StatefulSet:
					mutation.Plan[appsv1.StatefulSet]{What: "Workload", Copy: (*appsv1.StatefulSet).DeepCopy, Can: can, Matters: matters(childFields, changed(o, statefulSetChild)),
						Of: func(c *appsv1.StatefulSet) string { return of(func(s *Snapshot) { s.StatefulSets[1] = c }) }}.Check(t, reads, w.StatefulSets[1])
				case AdvancedStatefulSet:
					mutation.Plan[v1beta1.StatefulSet]{What: "Workload", Copy: (*v1beta1.StatefulSet).DeepCopy, Can: can, Matters: matters(childFields, changed(o, o.Features.advancedStatefulSetChild)),
						Of: func(c *v1beta1.StatefulSet) string { return of(func(s *Snapshot) { s.AdvancedStatefulSets[1] = c }) }}.Check(t, reads, w.AdvancedStatefulSets[1])
				case CloneSet:
					mutation.Plan[v1alpha1.CloneSet]{What: "Workload", Copy: (*v1alpha1.CloneSet).DeepCopy, Can: can, Matters: matters(childFields, changed(o, cloneSetChild)),
						Of: func(c *v1alpha1.CloneSet) string { return of(func(s *Snapshot) { s.CloneSets[1] = c }) }}.Check(t, reads, w.CloneSets[1])
				default:
					mutation.Plan[appsv1.Deployment]{What: "Workload", Copy: (*appsv1.Deployment).DeepCopy, Can: can, Matters: matters(childFields, changed(o, deploymentChild)),
						Of: func(c *appsv1.Deployment) string { return of(func(s *Snapshot) { s.Deployments[1] = c }) }}.Check(t, reads, w.Deployments[1])
				}
			})
		}
		reads.Require(t, "Set.Status.CurrentRevision", "Set.ObjectMeta.Generation", "Pod.Status.Phase", "Pod.Status.Conditions[].Status", "Pod.Status.Conditions[].Reason", "Pod.Spec.NodeName", "Revision.Revision",
			"Workload.Status.Replicas", "Workload.Status.ReadyReplicas")
	}
}

// matters tells whether a change of an object enqueues the UnitedDeployment. The API server
// counts generations: a change of the spec is one.
func matters[T any, O interface {
	*T
	metav1.Object
}](fields controller.Fields, concern func(before, after O, enqueue controller.Enqueue)) func(before, after *T) bool {
	return func(before, after *T) (enqueued bool) {
		if controller.Changed(O(before), O(after), fields) == 0 && reflect.DeepEqual(specOf(before), specOf(after)) {
			return false
		}
		concern(before, after, func(key types.NamespacedName) { enqueued = enqueued || key.Name == "web" })
		return enqueued
	}
}

func specOf(object any) any { return reflect.ValueOf(object).Elem().FieldByName("Spec").Interface() }

// When workloads and pods come from nowhere, change hands and go, those are enqueued whom it concerns.
func TestWhomEventsConcern(t *testing.T) {
	set := newSet(t)
	o := informed(t, set)
	long := newSet(t)
	long.Name = strings.Repeat("a", 60)
	if err := o.UnitedDeployments.GetIndexer().Add(long); err != nil {
		t.Fatal(err)
	}
	of := func(owner, apiVersion, app string) *v1alpha1.CloneSet {
		c := &v1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-a", Labels: map[string]string{"app": app}}}
		if owner != "" {
			c.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: owner, UID: types.UID(owner), Controller: new(true)}}
		}
		return c
	}
	const ours = "apps.kruise.io/v1alpha1"
	scaled := of("web", ours, "demo")
	scaled.Spec.Replicas = new(int32(7))
	mutation.CheckEvents(t, changed(o, cloneSetChild),
		mutation.On("it appears", nil, of("web", ours, "demo"), "default/web"),
		mutation.On("it goes", of("web", ours, "demo"), nil, "default/web"),
		mutation.On("it changes hands", of("web", ours, "demo"), of("b", ours, "demo"), "default/b default/web"),
		mutation.On("it is scaled", of("web", ours, "demo"), scaled, "default/web"),
		mutation.On("it stays", of("web", ours, "demo"), of("web", ours, "demo"), ""),
		mutation.On("UD-2.1: an orphan that is selected", nil, of("", "", "demo"), "default/"+long.Name+" default/web"),
		mutation.On("an orphan that is not", nil, of("", "", "other"), ""),
		mutation.On("a workload of another API", nil, of("web", "other.io/v1", "demo"), ""),
	)
	at := func(revision string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Labels: map[string]string{"app": "demo", v1alpha1.SubsetRevisionLabel: revision}}}
	}
	mutation.CheckEvents(t, o.podChanged,
		mutation.On("UD-7: no revision", nil, at(""), ""),
		mutation.On("UD-7: one of it", nil, at("web-76b76b9b44"), "default/web"),
		mutation.On("UD-7: one of another", nil, at("my-web-76b76b9b44"), "default/my-web"),
		mutation.On("UD-7: one without a name", nil, at("76b76b9b44"), "default/"+long.Name+" default/web"),
	)
}
