package cloneset

import (
	"fmt"
	"math/rand/v2"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/apitest"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/simulation"
	"github.com/podwright/podwright/internal/simulation/invariants"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestSimulation has users change a CloneSet at random amid everything that can
// go wrong, and judges each write of the controller.
func TestSimulation(t *testing.T) {
	simulation.Check(t, simulated(bug{}))
}

// TestSimulationReplays plays seeds twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	for seed := range uint64(4) {
		simulation.CheckReplay(t, simulated(bug{}), seed)
	}
}

// simulated is what a simulation needs to know of CloneSets, whose controllers
// have a bug.
func simulated(bug bug) *simulation.Workload {
	return &simulation.Workload{
		Resource: apitest.CustomResource(v1alpha1.SchemeGroupVersion.WithKind("CloneSet"), "clonesets"),
		Empty:    func() simulation.Object { return &v1alpha1.CloneSet{} },
		Create:   anySet,
		Start:    func(p *simulation.Process) (simulation.Controller, error) { return startSimulated(p, bug) },
		Act:      bug.act,
		Release:  (*simulation.User).AnswerHooks,
		Push:     push,
		Judge: func(seed uint64) simulation.Judge {
			f := featuresOf(seed)
			features := invariants.CloneSetFeatures{PartitionRollback: f.PartitionRollback, ExcludePreparingDelete: f.ExcludePreparingDelete}
			return simulation.Judge{
				Write: func(w *invariants.Write) []invariants.Violation { return invariants.CloneSet(w, features) },
				Rest:  invariants.CloneSetAtRest,
			}
		},
	}
}

// featuresOf are the features of the controller of a seed.
func featuresOf(seed uint64) Features {
	return Features{PartitionRollback: seed%3 == 1, ExcludePreparingDelete: seed%5 == 1, ShortHash: seed%7 == 1}
}

// push is what users do in the end.
func push(u *simulation.User) {
	u.Edit(`{"spec":{"replicas":3,"minReadySeconds":0,"lifecycle":null,"scaleStrategy":null,
		"selector":{"matchLabels":{"app":"web"},"matchExpressions":null},
		"template":{"spec":{"containers":[{"name":"main","image":"nginx:9"}]}},
		"updateStrategy":{"type":"InPlaceIfPossible","partition":0,"maxUnavailable":1,"maxSurge":0,"paused":false,"priorityStrategy":null,"scatterStrategy":null}}}`)
}

// observer tells a simulation when a pass reads the caches.
type observer struct {
	Reader
	process *simulation.Process
}

func (o observer) CloneSet(namespace, name string) (*v1alpha1.CloneSet, error) {
	o.process.Observe()
	return o.Reader.CloneSet(namespace, name)
}

func startSimulated(p *simulation.Process, bug bug) (c simulation.Controller, err error) {
	if bug.config != nil {
		bug.config(p.Config)
	}
	o := Options{
		NoNodes: true, Features: featuresOf(p.Seed),
		CloneSets: p.Informer("clonesets"), Pods: p.Informer("pods"),
		Claims: p.Informer("persistentvolumeclaims"), Revisions: p.Informer("controllerrevisions"),
	}
	if o.Kubernetes, err = p.Kubernetes(); err != nil {
		return c, err
	}
	if o.Workloads, err = client.NewForConfig(p.Config); err != nil {
		return c, err
	}
	for _, informer := range []cache.SharedIndexInformer{o.Pods, o.Claims, o.Revisions} {
		if err := caches.AddOwnerIndex(informer); err != nil {
			return c, err
		}
	}
	o.Reader = observer{newInformerReader(&o), p}
	if bug.options != nil {
		bug.options(&o)
	}
	r, err := NewReconciler(o)
	if err != nil {
		return c, err
	}
	if bug.reconciler != nil {
		bug.reconciler(r)
	}
	return simulation.Controller{Reconcile: r.Reconcile, Unfinished: func() (string, error) { return unfinished(r) }}, nil
}

// anySet is a CloneSet of a seed.
func anySet(r *rand.Rand) simulation.Object {
	set := &v1alpha1.CloneSet{Spec: v1alpha1.CloneSetSpec{
		Replicas: ptr.To(1 + r.Int32N(5)),
		Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: simulation.PodLabels(r)},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}},
		},
		UpdateStrategy: v1alpha1.CloneSetUpdateStrategy{Type: updateTypes[r.IntN(len(updateTypes))]},
	}}
	if r.IntN(3) == 0 {
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	}
	for _, hook := range simulation.Hooks {
		if r.IntN(4) == 0 {
			simulation.Merge(set, hook(r))
		}
	}
	for range r.IntN(8) {
		simulation.Merge(set, simulation.AnyEdit(r, edits))
	}
	return set
}

var updateTypes = []v1alpha1.CloneSetUpdateStrategyType{
	v1alpha1.RecreateCloneSetUpdateStrategyType, v1alpha1.InPlaceIfPossibleCloneSetUpdateStrategyType, v1alpha1.InPlaceOnlyCloneSetUpdateStrategyType,
}

// edits are what users change about a CloneSet.
var edits = append([]simulation.Edit{
	simulation.Pick(`{"spec":{"replicas":%v}}`, 0, 2, 3, 4, 5, 6),
	simulation.Pick(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:%v"}]}}}}`, 1, 2, 3, 4, 5, 6, "bad"),
	simulation.Pick(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:%v"}]}}}}`, 1, 2, 3, 4),
	simulation.Pick(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","env":[{"name":"A","value":"%v"}]}]}}}}`, 1, 2),
	simulation.Pick(`{"spec":{"template":{"metadata":{"labels":{"version":"%v"}}}}}`, 1, 2),
	simulation.Pick(`{"spec":{"updateStrategy":{"partition":%v}}}`, 0, 1, 2, 3, `"50%"`, `"100%"`),
	simulation.Pick(`{"spec":{"updateStrategy":{"maxUnavailable":%v}}}`, 0, 1, 2, `"20%"`, `"50%"`),
	simulation.Pick(`{"spec":{"updateStrategy":{"maxSurge":%v}}}`, 0, 1, 2, `"30%"`),
	simulation.Pick(`{"spec":{"updateStrategy":{"type":"%v"}}}`, "ReCreate", "InPlaceIfPossible", "InPlaceOnly"),
	simulation.Pick(`{"spec":{"updateStrategy":{"paused":%v}}}`, true, false),
	simulation.Pick(`{"spec":{"updateStrategy":{"inPlaceUpdateStrategy":{"gracePeriodSeconds":%v}}}}`, 0, 5),
	simulation.Pick(`{"spec":{"minReadySeconds":%v}}`, 0, 10, 60),
	simulation.Pick(`{"spec":{"scaleStrategy":{"maxUnavailable":%v}}}`, 1, 2, "null"),
	simulation.Pick(`{"spec":{"scaleStrategy":{"disablePVCReuse":%v}}}`, true, false),
	simulation.Pick(`{"metadata":{"labels":{"apps.kruise.io/cloneset-scaling-exclude-preparing-delete":"%v"}}}`, true, false),
	simulation.Pick(`{"spec":{"updateStrategy":{"priorityStrategy":%v}}}`, "null",
		`{"weightPriority":[{"weight":9,"matchSelector":{"matchLabels":{"version":"1"}}}]}`, `{"orderPriority":[{"orderedKey":"version"}]}`),
	simulation.Pick(`{"spec":{"updateStrategy":{"scatterStrategy":%v}}}`, "null", `[{"key":"version","value":"1"}]`),
	simulation.Pick(`{"spec":{"revisionHistoryLimit":%v}}`, 0, 1, 10),
	simulation.Pick(`{"metadata":{"annotations":{"note":"%v"}}}`, 1, 2),
}, simulation.Hooks...)

// mistakes are what only a webhook would refuse.
var mistakes = []simulation.Mistake{
	{`{"spec":{"selector":{"matchExpressions":[{"key":"app","operator":"Like"}]}}}`, `{"spec":{"selector":{"matchExpressions":null}}}`},
	{`{"spec":{"selector":{"matchLabels":null}}}`, `{"spec":{"selector":{"matchLabels":{"app":"web"}}}}`},
	{`{"spec":{"replicas":-1}}`, `{"spec":{"replicas":2}}`},
	{`{"spec":{"minReadySeconds":-1}}`, `{"spec":{"minReadySeconds":0}}`},
	{`{"spec":{"updateStrategy":{"partition":"two"}}}`, `{"spec":{"updateStrategy":{"partition":0}}}`},
	{`{"spec":{"updateStrategy":{"partition":-1}}}`, `{"spec":{"updateStrategy":{"partition":0}}}`},
	{`{"spec":{"updateStrategy":{"maxUnavailable":-1}}}`, `{"spec":{"updateStrategy":{"maxUnavailable":1}}}`},
	{`{"spec":{"updateStrategy":{"maxSurge":"much"}}}`, `{"spec":{"updateStrategy":{"maxSurge":1}}}`},
	{`{"spec":{"template":{"spec":{"containers":[]}}}}`, `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1"}]}}}}`},
}

// act is what users, and the owners of hooks, do in a step.
func act(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	switch n := r.IntN(24); {
	case n == 0 && r.IntN(8) == 0 && len(u.Workload().(*v1alpha1.CloneSet).Spec.VolumeClaimTemplates) == 0: // with claims, pods that are given up would keep their names
		u.Edit(`{"spec":{"selector":{"matchLabels":{"app":"other"}}}}`)
	case n == 0:
		u.Err(r, mistakes)
	case n < 12 || pod == nil:
		u.Edit(simulation.AnyEdit(r, edits))
	case n < 17:
		u.AnswerHook(pod)
	case n < 19:
		u.PatchPod(pod.Name, `{"metadata":{"labels":{"apps.kruise.io/specified-delete":"true"}}}`)
	case n == 19:
		pick(u, pod)
	case n == 20:
		u.CreateStranger(fmt.Sprint("stranger-", r.IntN(3)))
	case len(pod.Spec.Volumes) > 0: // its claims would wait for it
	case n == 21:
		u.Disown(pod)
	default:
		u.TakeName(pod)
	}
}

func pick(u *simulation.User, pod *corev1.Pod) {
	u.Edit(fmt.Sprintf(`{"spec":{"scaleStrategy":{"podsToDelete":[%q]}}}`, pod.Name))
}
