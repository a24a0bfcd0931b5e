// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/controller"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/testing/simulation/planted"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulation has users change a CloneSet at random amid everything that can
// go wrong, and judges each write of the controller.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(bug{}), simulation.Dying(simulated(bug{})))
}

// TestSimulationReplays plays seeds twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		simulation.CheckReplay(t, simulated(bug{}), seed)
	}
}

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.CloneSet]{Create: ValidateCreate, Update: ValidateUpdate, Immutable: map[string]string{
		"selector": `{"selector":{"matchLabels":{"app":"other"}},"template":{"metadata":{"labels":{"app":"other"}}}}`,
	}}, simulated(bug{}))
}

// TestSimulationOfStartupProbes plays histories of pods with startup probes, with kubelets that say of a container that they
// restart that it has started, until they ask. (IP-45)
func TestSimulationOfStartupProbes(t *testing.T) {
	simulation.Check(t, starting(bug{}))
}

// TestSimulationFindsBugsOfStartupProbes has the word of kubelets count at once, which a few seeds must find.
func TestSimulationFindsBugsOfStartupProbes(t *testing.T) {
	plant := simulation.Plant(t, starting)
	plant("the kubelet is believed at once", invariants.InPlace, 0, misreading(func(s *Snapshot) { s.Pods = simulation.Believing(s.Pods) }))
}

// starting is played with pods whose containers have startup probes.
func starting(bug bug) *simulation.Subject {
	return simulation.Starting(simulated(bug), `{"spec":{"updateStrategy":{"type":"InPlaceIfPossible","partition":0,"paused":false}}}`)
}

// simulated is what a simulation needs to know of CloneSets, whose controllers
// have a bug.
func simulated(bug bug) *simulation.Subject { return played(bug, everything) }

// played is the same with users who know of some fields only.
func played(bug bug, fields fields) *simulation.Subject {
	return &simulation.Subject{
		Resource: fakecluster.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
		Empty:    func() simulation.Object { return &v1alpha1.CloneSet{} },
		Create:   fields.anySet,
		Start:    planted.Start(tested, bug, simulatedOptions),
		Act:      bug.Act(fields.act),
		Rare:     fields.rare,
		Release:  (*simulation.User).AnswerHooks,
		Push:     push,
		Judge:    judgedBy(func(*invariants.CloneSetFeatures) {}),
	}
}

// judgedBy returns the judges of seeds, for controllers that have more features than those of the seed.
func judgedBy(more func(*invariants.CloneSetFeatures)) func(uint64) simulation.Judge {
	return func(seed uint64) simulation.Judge {
		features, past := rulesOf(seed), invariants.NewPast()
		more(&features)
		return simulation.Judge{
			Observe: past.Observe,
			Write: func(w *invariants.Write) []invariants.Violation {
				return append(invariants.CloneSet(w, features), past.CloneSetProgress(w)...)
			},
			Settled: func(s *invariants.State, pushed bool) []invariants.Violation {
				return past.CloneSetSettled(s, pushed, features)
			},
		}
	}
}

// rulesOf are those by which the controller of a seed is judged.
func rulesOf(seed uint64) invariants.CloneSetFeatures {
	return invariants.CloneSetFeatures{PartitionRollback: seed%3 == 1, ExcludePreparingDelete: seed%5 == 1}
}

// featuresOf are the features of the controller of a seed.
func featuresOf(seed uint64) Features {
	rules := rulesOf(seed)
	return Features{PartitionRollback: rules.PartitionRollback, ExcludePreparingDelete: rules.ExcludePreparingDelete, ShortHash: seed%7 == 1}
}

// push is what users do in the end. They push a template whose image runs. They
// take back what only a webhook would have refused, since it is not defined what that
// means; and paused, which asks for a standstill. All the rest stands: partitions,
// strategies, limits, hooks, specified-deletes and quarantines are for the controller to cope with.
func push(u *simulation.User) {
	set := u.Workload().(*v1alpha1.CloneSet)
	containers := set.Spec.Template.Spec.Containers
	if len(containers) == 0 {
		containers = []corev1.Container{{Name: "main"}}
	}
	containers[0].Image = "nginx:9"
	data, err := json.Marshal(containers)
	if err != nil {
		panic(err)
	}
	u.Edit(`{"spec":{"template":{"spec":{"containers":` + string(data) + `}},"updateStrategy":{"paused":false}}}`)
	takeBack(u, set)
}

func simulatedOptions(p *simulation.Process) (o Options, err error) {
	o = Options{
		NoNodes: !p.HasNodes() || p.Seed%4 == 3, Features: featuresOf(p.Seed),
		CloneSets: p.Informer("clonesets"), Pods: p.Informer("pods"),
		Claims: p.Informer("persistentvolumeclaims"), Revisions: p.Informer("controllerrevisions"),
	}
	if !o.NoNodes {
		o.Nodes = p.Informer("nodes")
	}
	if o.Kubernetes, err = p.Kubernetes(); err != nil {
		return o, err
	}
	if o.Workloads, err = client.NewForConfig(p.Config); err != nil {
		return o, err
	}
	o.Reader = readers.Noting{Reader: controller.Caches(o.reads()), Resource: ResourceCloneSets, Note: p.Observe}
	return o, nil
}

// fields are what users know of a CloneSet. What a seed plays depends on it.
type fields struct {
	types []v1alpha1.CloneSetUpdateStrategyType
	edits []simulation.Edit
	rare  func(*simulation.User, *rand.Rand)
	// lends says that they have the CloneSet own pods that another controller has.
	lends bool
}

// everything is all that there is; earlier is what was known when the regressions were found.
var (
	earlier = fields{[]v1alpha1.CloneSetUpdateStrategyType{
		v1alpha1.RecreateCloneSetUpdateStrategyType, v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType,
	}, edits, nil, false}
	everything = fields{append(slices.Concat(earlier.types, earlier.types), v1alpha1.OnDeleteCloneSetUpdateStrategyType), append(slices.Clone(edits),
		simulation.Pick(`{"spec":{"updateStrategy":{"type":"%v"}}}`, "OnDelete", "OnDelete", "ReCreate", "InPlaceIfPossible"),
		simulation.Pick(`{"spec":{"progressDeadlineSeconds":%v}}`, "null", 5, 120, 600, 600),
		simulation.Pick(`{"spec":{"progressDeadlineSeconds":%v}}`, 120, 600),
	), simulation.Rarely(append(slices.Clone(simulation.RareHooks), rareEdits...)...), true}
)

// rareEdits are what users change seldom: by which label pods are scattered, of a term that stays.
var rareEdits = simulation.ReadEdits("rareEdits")

// anySet is a CloneSet of a seed.
func (f fields) anySet(r *rand.Rand) simulation.Object {
	set := &v1alpha1.CloneSet{Spec: v1alpha1.CloneSetSpec{
		Replicas: ptr.To(1 + r.Int32N(5)),
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: simulation.PodLabels(r)},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
		},
		UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{Type: f.types[r.IntN(len(f.types))]},
	}}
	if r.IntN(2) == 0 {
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	}
	for _, hook := range simulation.Hooks {
		if r.IntN(4) == 0 {
			simulation.Merge(set, hook(r))
		}
	}
	for range r.IntN(8) {
		simulation.Merge(set, simulation.AnyEdit(r, f.edits))
	}
	return set
}

// edits are what users change about a CloneSet, of the fields that were known earlier.
var edits = append(simulation.ReadEdits("edits"), simulation.Hooks...)

// mistakes are what only a webhook would refuse.
var mistakes = simulation.ReadMistakes("mistakes")

// takeBack takes back the mistakes that were made, and others that come to the same.
func takeBack(u *simulation.User, set *v1alpha1.CloneSet) {
	u.TakeBack(set, mistakes...)
	strategy := &set.Spec.UpdateStrategy
	if strategy.Type == v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType && amount(strategy.MaxSurge) > 0 {
		u.Edit(`{"spec":{"updateStrategy":{"maxSurge":0}}}`)
	}
	if movesNothing(&set.Spec) {
		u.Edit(`{"spec":{"updateStrategy":{"maxUnavailable":1}}}`)
	}
}

// movesNothing tells whether maxUnavailable is none, or 0 while maxSurge is 0 too,
// or made 0 by InPlaceOnly, which has no surge.
func movesNothing(s *v1alpha1.CloneSetSpec) bool {
	u, surge := amount(s.UpdateStrategy.MaxUnavailable), amount(s.UpdateStrategy.MaxSurge)
	if s.UpdateStrategy.Type == v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType {
		surge = 0
	}
	return u < 0 || s.UpdateStrategy.MaxUnavailable != nil && u == 0 && surge == 0
}

// amount is a number or percentage of many replicas, negative if it is none of both.
func amount(n *intstr.IntOrString) int {
	if n == nil {
		return 0
	}
	value, err := intstr.GetScaledValueFromIntOrPercent(n, 100, true)
	if err != nil {
		return -1
	}
	return value
}

// act is what users, and the owners of hooks, do in a step.
func (f fields) act(u *simulation.User, r *rand.Rand) {
	if f.lends && r.IntN(30) == 0 {
		u.Lend(r)
		return
	}
	pod := u.AnyPod(r)
	switch n := r.IntN(30); {
	case n == 0 && r.IntN(3) == 0:
		u.Edit(mistakes[r.IntN(len(mistakes))][0])
	case n == 0:
		takeBack(u, u.Workload().(*v1alpha1.CloneSet))
	case n < 13 || pod == nil:
		u.Edit(simulation.AnyEdit(r, f.edits))
	case n < 19:
		u.AnswerHook(pod)
	case n < 21:
		u.PatchPod(pod.Name, `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
	case n == 21:
		mark(u, pod)
	case n == 22:
		u.CreateStranger(fmt.Sprint("stranger-", r.IntN(3)))
	case n == 23:
		u.Disown(pod)
	case n == 24:
		u.TakeName(pod)
	case n < 27:
		u.Quarantine(pod)
	case n == 27:
		u.DeleteClaim("data-" + pod.Name)
	case n == 28:
		u.Corrupt(pod)
	default:
		u.CreateRevision(fmt.Sprint("web-unreadable-", r.IntN(2)))
	}
}

func mark(u *simulation.User, pod *corev1.Pod) {
	u.Edit(fmt.Sprintf(`{"spec":{"scaleStrategy":{"podsToDelete":[%q]}}}`, pod.Name))
}
