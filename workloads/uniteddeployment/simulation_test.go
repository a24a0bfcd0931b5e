// SPDX-License-Identifier: Apache-2.0

package uniteddeployment

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	rand32 "k8s.io/apimachinery/pkg/util/rand"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulation has users change a UnitedDeployment and the workloads of its subsets at random. Everything that can go wrong
// does, and each write of the controller is judged. A model plays the controllers of the workloads.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(&bug{}), simulation.Dying(simulated(&bug{})))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	simulation.CheckReplay(t, simulated(&bug{}), 1)
}

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.UnitedDeployment]{Create: ValidateCreate, Update: ValidateUpdate, Immutable: map[string]string{
		"topology.subsets[].nodeSelectorTerm": `{"topology":{"subsets":[{"name":"a","nodeSelectorTerm":{"matchExpressions":[{"key":"zone","operator":"Exists"}]}}]}}`,
		"topology.subsets[].tolerations":      `{"topology":{"subsets":[{"name":"b","nodeSelectorTerm":{"matchExpressions":[{"key":"zone","operator":"In","values":["b"]}]}}]}}`,
		"selector":                            `{"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}}}}`,
	}, Elsewhere: map[string]string{
		"template.advancedStatefulSetTemplate.metadata": "TestEveryFieldOfATemplateReachesTheWorkload", "template.advancedStatefulSetTemplate.spec": "TestEveryFieldOfATemplateReachesTheWorkload",
		"topology.scheduleStrategy.adaptive.unschedulableLastSeconds": "TestZones",
	}}, simulated(&bug{}), adaptiveSimulated(&bug{}))
}

// simulated is what a simulation needs to know of UnitedDeployments, whose controllers have a bug.
func simulated(bug *bug) *simulation.Subject {
	return &simulation.Subject{
		Resource: setResource,
		Empty:    func() simulation.Object { return &v1alpha1.UnitedDeployment{} },
		Further: []simulation.Further{
			{Resource: resources[CloneSet], Empty: func() simulation.Object { return &v1alpha1.CloneSet{} }},
			{Resource: resources[Deployment], Empty: func() simulation.Object { return &appsv1.Deployment{} }},
			{Resource: resources[StatefulSet], Empty: func() simulation.Object { return &appsv1.StatefulSet{} }},
		},
		Create: func(r *rand.Rand) simulation.Object { return anySet(r) },
		Start: func(p *simulation.Process) (simulation.Controller, error) {
			return startSimulated(p, bug, simulatedOptions)
		},
		Patience: 20 * time.Minute,
		Act:      bug.Act(act),
		Rare:     simulation.Rarely(simulation.Pick(`{"spec":{"updateStrategy":{"type":%v}}}`, "null", `"Manual"`)),
		Others:   func(u *simulation.User, r *rand.Rand) { runSome(u, r) },
		Release:  runAll,
		Push:     push,
		Ignores:  []string{string(caches.Claims)},
		Judge: func(seed uint64) simulation.Judge {
			past := &invariants.UnitedPast{UpdatedCondition: asLater(seed), SubsetStatuses: asLater(seed)}
			return simulation.Judge{Observe: past.Observe, Write: past.Write, Settled: past.Settled}
		},
	}
}

// asLater tells whether controllers of a seed do as those of OpenKruise 1.9.
func asLater(seed uint64) bool { return seed%3 == 1 }

func startSimulated(p *simulation.Process, bug *bug, options func(*simulation.Process) (Options, error)) (simulation.Controller, error) {
	r, err := bug.Start(p, options, NewReconciler)
	if err != nil {
		return simulation.Controller{}, err
	}
	return simulation.Controller{Reconcile: r.Reconcile, Unfinished: func() (string, error) {
		s, err := r.Snapshot(context.Background(), simulation.Web)
		if s == nil || err != nil {
			return "", err
		}
		plan := controller.KindOf(r).Plan(s)
		if text := plan.String(); text != "" && len(plan.Problems) == 0 {
			return text, nil
		}
		if plan.Status != nil && !sameStatus(&s.Set.Status, plan.Status) {
			return fmt.Sprintf("status %+v", plan.Status), nil
		}
		return "", nil
	}}, nil
}

func simulatedOptions(p *simulation.Process) (o Options, err error) {
	o.Reader, o.Without = planted.Read(p, resourceUnitedDeployments, resourceCloneSets, resourceDeployments, resourceStatefulSets,
		resourceRevisions, resourcePods), []TemplateKind{AdvancedStatefulSet}
	if asLater(p.Seed) {
		o.Features = FeaturesOf(podwright.Release19)
		o.Features.AdaptiveScheduling = false // TestAdaptiveSimulation has it
	}
	if o.Kubernetes, err = p.Kubernetes(); err == nil {
		o.Workloads, err = client.NewForConfig(p.Config)
	}
	return o, err
}

// anySet is the UnitedDeployment of a seed.
func anySet(r *rand.Rand) *v1alpha1.UnitedDeployment {
	set := &v1alpha1.UnitedDeployment{Spec: v1alpha1.UnitedDeploymentSpec{
		Replicas: new(1 + r.Int32N(7)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
	}}
	simulation.Merge(set, anyTemplate(r))
	simulation.Merge(set, anyTopology(r))
	for range r.IntN(3) {
		simulation.Merge(set, simulation.AnyEdit(r, setEdits))
	}
	return set
}

// anyTemplate is a template of one of the kinds.
func anyTemplate(r *rand.Rand) string {
	n, labels := r.IntN(4), map[string]any{"labels": map[string]any{"app": "web"}}
	containers := []any{map[string]any{"name": "main", "image": fmt.Sprint("nginx:", 1+r.IntN(3))}}
	spec := map[string]any{"template": map[string]any{"metadata": labels, "spec": map[string]any{"containers": containers}}}
	if n == 3 {
		spec["podManagementPolicy"] = "Parallel"
	}
	templates := map[string]any{"cloneSetTemplate": nil, "deploymentTemplate": nil, "statefulSetTemplate": nil}
	field := []string{"cloneSetTemplate", "deploymentTemplate", "statefulSetTemplate", "statefulSetTemplate"}[n]
	templates[field] = map[string]any{"metadata": labels, "spec": spec}
	return specPatch("template", templates)
}

func specPatch(field string, value any) string {
	data, err := json.Marshal(map[string]any{"spec": map[string]any{field: value}})
	if err != nil {
		panic(err)
	}
	return string(data)
}

// anyTopology is up to four subsets.
func anyTopology(r *rand.Rand) string {
	var subsets []any
	for _, name := range []string{"a", "b", "c", "d"} {
		if r.IntN(3) == 0 {
			continue
		}
		s := named(name)
		switch r.IntN(4) {
		case 0:
			s["replicas"] = r.IntN(4)
		case 1:
			s["replicas"] = []string{"10%", "25%", "33%", "50%", "100%"}[r.IntN(5)]
		}
		if r.IntN(3) == 0 {
			s["patch"] = map[string]any{"metadata": map[string]any{"annotations": map[string]any{"patched": fmt.Sprint(name, r.IntN(2))}}}
		}
		subsets = append(subsets, s)
	}
	return specPatch("topology", map[string]any{"subsets": subsets})
}

// named is a subset of a name, with what cannot be changed about it.
func named(name string) map[string]any {
	s := map[string]any{"name": name}
	if name == "a" || name == "b" {
		s["nodeSelectorTerm"] = map[string]any{"matchExpressions": []any{map[string]any{"key": "zone", "operator": "In", "values": []string{name}}}}
	}
	if name == "b" {
		s["tolerations"] = []any{map[string]any{"key": "drain", "operator": "Exists"}}
	}
	return s
}

// newImage is another image in the template that there is.
func newImage(set *v1alpha1.UnitedDeployment, tag any) string {
	for field, is := range map[string]bool{"cloneSetTemplate": set.Spec.Template.CloneSetTemplate != nil,
		"deploymentTemplate": set.Spec.Template.DeploymentTemplate != nil, "statefulSetTemplate": set.Spec.Template.StatefulSetTemplate != nil} {
		if is {
			return fmt.Sprintf(`{"spec":{"template":{%q:{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:%v"}]}}}}}}}`, field, tag)
		}
	}
	return "{}"
}

// setEdits are what users change about a UnitedDeployment, beside its template and its topology.
var setEdits = simulation.ReadEdits("setEdits")

// act is what users do in a step, to the UnitedDeployment or to the workloads of its subsets.
func act(u *simulation.User, r *rand.Rand) {
	set := u.Workload().(*v1alpha1.UnitedDeployment)
	switch n := r.IntN(24); {
	case n < 4:
		u.Edit(newImage(set, []any{1, 2, 3, 4, "bad"}[r.IntN(5)]))
	case n < 5:
		u.Edit(anyTemplate(r))
	case n < 9:
		u.Edit(anyTopology(r))
	case n < 14:
		u.Edit(simulation.AnyEdit(r, setEdits))
	case n == 14:
		wrong := named("a")
		wrong["replicas"] = "half"
		u.Edit(specPatch("topology", map[string]any{"subsets": []any{wrong}}))
	default:
		actOnChild(u, set, r)
	}
}

// actOnChild is what users do to the workload of a subset, or beside it.
func actOnChild(u *simulation.User, set *v1alpha1.UnitedDeployment, r *rand.Rand) {
	resource := playedKinds[r.IntN(3)]
	child := u.AnyObject(resource, r)
	for _, other := range playedKinds {
		if child == nil {
			resource = other
			child = u.AnyObject(resource, r)
		}
	}
	if child == nil {
		return
	}
	name := child.GetName()
	patch := func(patch string) { u.Patch(resource, name, patch) }
	switch r.IntN(10) {
	case 0, 1:
		u.DeleteObject(resource, name, []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan}[r.IntN(3)])
	case 2, 3:
		patch(fmt.Sprintf(`{"spec":{"replicas":%d}}`, r.IntN(6)))
	case 4:
		switch resource {
		case childCloneSets:
			patch(simulation.Pick(`{"spec":{"updateStrategy":{"partition":%v}}}`, 0, 1, `"50%"`)(r))
		case childStatefulSets:
			patch(simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":%v}}}}`, 0, 1)(r))
		default:
			patch(simulation.Pick(`{"spec":{"paused":%v}}`, true, false)(r))
		}
	case 5:
		patch(simulation.Pick(`{"metadata":{"labels":{"apps.kruise.io/subset-name":%v}}}`, "null", `"a"`, `"z"`)(r))
	case 6:
		patch(simulation.Pick(`{"metadata":{"labels":{"app":%v}}}`, `"other"`, `"web"`)(r))
	case 7:
		patch(`{"metadata":{"ownerReferences":null}}`)
	case 8:
		patch(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"theirs"}]}}}}`)
	default:
		takeName(u, set, r)
	}
}

// takeName has another client create a workload, of the name that the one of a subset is to get.
func takeName(u *simulation.User, set *v1alpha1.UnitedDeployment, r *rand.Rand) {
	subset := []string{"a", "b", "c", "d"}[r.IntN(4)]
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: firstName(set, subset), Namespace: set.Namespace}}
	if r.IntN(2) == 0 { // which is like that of a subset, perhaps of one that there is not
		d.Labels = map[string]string{"app": "web", v1alpha1.SubsetNameLabel: []string{subset, "z"}[r.IntN(2)]}
	}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "theirs"}}
	u.CreateObject(childDeployments, d)
}

// firstName is the name that the workload of a subset gets, unless another one has it. (UD-6)
func firstName(set *v1alpha1.UnitedDeployment, subset string) string {
	hash := fnv.New32a()
	fmt.Fprintf(hash, "%s/%s/0", set.UID, subset)
	generated := rand32.SafeEncodeString(fmt.Sprint(hash.Sum32()))
	return set.Name + "-" + subset + "-" + generated[max(0, len(generated)-5):]
}

// push is all that users do in the end: they push an image that runs, to subsets that can be split.
func push(u *simulation.User) {
	u.Edit(specPatch("topology", map[string]any{"subsets": []any{named("b"), map[string]any{"name": "c", "replicas": "30%"}, map[string]any{"name": "d"}}}))
	u.Edit(newImage(u.Workload().(*v1alpha1.UnitedDeployment), 9))
}
