// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/workloads/v1alpha1"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// start is the time at which scripts begin.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const pods = "template: {metadata: {labels: {app: demo}}, spec: {containers: [{name: main, image: 'nginx:1.21'}]}}"

// templateYAML is a template of a kind with more in its spec.
func templateYAML(kind TemplateKind, more string) string {
	field := map[TemplateKind]string{StatefulSet: "statefulSetTemplate", AdvancedStatefulSet: "advancedStatefulSetTemplate",
		CloneSet: "cloneSetTemplate", Deployment: "deploymentTemplate"}[kind]
	return "template: {" + field + ": {metadata: {labels: {app: demo}}, spec: {" + more + pods + "}}}"
}

// newSet is a UnitedDeployment with the lines in its spec, of CloneSets in the subsets a and b
// if these say nothing else.
func newSet(t testing.TB, lines ...string) *v1alpha1.UnitedDeployment {
	t.Helper()
	return newSetOf(t, CloneSet, strings.Join(lines, "\n"))
}

// newSetOf is newSet of workloads of another kind.
func newSetOf(t testing.TB, kind TemplateKind, spec string) *v1alpha1.UnitedDeployment {
	t.Helper()
	for _, line := range []string{"selector: {matchLabels: {app: demo}}", templateYAML(kind, ""), "topology: {subsets: [{name: a}, {name: b}]}"} {
		if field, _, _ := strings.Cut(line, ":"); !strings.Contains("\n"+spec, "\n"+field+":") {
			spec += "\n" + line
		}
	}
	set := &v1alpha1.UnitedDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "uid", Generation: 1}}
	if err := yaml.UnmarshalStrict([]byte(spec), &set.Spec); err != nil {
		t.Fatal(err)
	}
	return set
}

// world is what the caches hold, and what planning makes of it.
type world struct {
	testing.TB
	Snapshot
	uids int
}

func newWorld(t testing.TB, set *v1alpha1.UnitedDeployment) *world {
	return &world{TB: t, Snapshot: Snapshot{Set: set}}
}

// settle plans and does what is planned until nothing is left to do. It fails when that does
// not end.
func (w *world) settle() *Plan {
	w.Helper()
	for range 5 {
		plan := NewPlan(&w.Snapshot)
		w.do(plan)
		if plan.String() == "" {
			return plan
		}
	}
	w.Fatalf("it does not settle: %v", NewPlan(&w.Snapshot))
	return nil
}

// do does what is planned.
func (w *world) do(plan *Plan) {
	w.Helper()
	if plan.Status != nil {
		w.Set = w.Set.DeepCopy()
		w.Set.Status = *plan.Status
	}
	if r := plan.Revisions.Create; r != nil {
		r = r.DeepCopy()
		r.UID = w.uid()
		w.Revisions = append(w.Revisions, r)
	}
	for i, r := range w.Revisions {
		if raise := plan.Revisions.Raise; raise != nil && r.Name == raise.Name {
			w.Revisions[i] = raise
		}
	}
	for _, r := range plan.Revisions.Delete {
		w.Revisions = slices.DeleteFunc(w.Revisions, func(o *appsv1.ControllerRevision) bool { return o == r })
	}
	for _, c := range plan.Create {
		c.Object.SetUID(w.uid())
		w.put(c.Object)
	}
	for _, c := range plan.Delete {
		w.remove(c.Object.GetUID())
	}
	for i := range plan.Update {
		w.update(&plan.Update[i])
	}
}

func (w *world) uid() types.UID {
	w.uids++
	return types.UID(fmt.Sprint("uid-", w.uids))
}

// put adds a workload, in the place of one with its UID.
func (w *world) put(object metav1.Object) {
	w.remove(object.GetUID())
	switch o := object.(type) {
	case *appsv1.StatefulSet:
		w.StatefulSets = append(w.StatefulSets, o)
	case *v1beta1.StatefulSet:
		w.AdvancedStatefulSets = append(w.AdvancedStatefulSets, o)
	case *v1alpha1.CloneSet:
		w.CloneSets = append(w.CloneSets, o)
	case *appsv1.Deployment:
		w.Deployments = append(w.Deployments, o)
	default:
		w.Fatalf("%T is no workload", object)
	}
}

func (w *world) remove(uid types.UID) {
	w.StatefulSets = without(w.StatefulSets, uid)
	w.AdvancedStatefulSets = without(w.AdvancedStatefulSets, uid)
	w.CloneSets = without(w.CloneSets, uid)
	w.Deployments = without(w.Deployments, uid)
}

func without[T metav1.Object](objects []T, uid types.UID) []T {
	return slices.DeleteFunc(slices.Clone(objects), func(o T) bool { return o.GetUID() == uid })
}

// update patches a workload as the API server does.
func (w *world) update(u *Update) {
	w.Helper()
	object := u.Child.Object
	data := u.Child.scalePatch(u.Replicas, u.Partition)
	if u.Wanted != nil {
		live := strings.Replace(patches.JSON(w, object), `"metadata":{`, `"metadata":{"resourceVersion":"live",`, 1)
		var err error
		data, err = u.updatePatch([]byte(live))
		w.must(err)
		uid := fmt.Sprintf(`"uid":%q`, object.GetUID())
		if text := string(data); !strings.Contains(text, `"resourceVersion":"live"`) || !strings.Contains(text, uid) { // what is removed depends on what was read
			w.Errorf("UD-10.3: the patch does not hold for the version that was read alone: %s", data)
		}
	}
	w.put(w.patched(object, data))
}

// patched is an object after a merge patch.
func (w *world) patched(object metav1.Object, data []byte) metav1.Object {
	w.Helper()
	raw, err := jsonpatch.MergePatch([]byte(patches.JSON(w, object)), data)
	w.must(err)
	into := reflect.New(reflect.TypeOf(object).Elem()).Interface().(metav1.Object)
	w.must(json.Unmarshal(raw, into))
	return into
}

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// pod is a pod of a workload at a revision.
func (w *world) pod(name string, of metav1.Object, revision string, ready bool) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name,
		OwnerReferences: []metav1.OwnerReference{{UID: of.GetUID(), Name: of.GetName(), Controller: new(true)}},
		Labels:          map[string]string{"app": "demo", v1alpha1.SubsetNameLabel: of.GetLabels()[v1alpha1.SubsetNameLabel], v1alpha1.SubsetRevisionLabel: revision}}}
	if ready {
		pod.Spec.NodeName = "node"
		pod.Status.Phase = corev1.PodRunning
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	w.Pods = append(w.Pods, pod)
	return pod
}
