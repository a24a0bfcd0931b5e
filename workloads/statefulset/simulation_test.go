package statefulset

import (
	"fmt"
	"math/rand/v2"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/apitest"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/ordinals"
	"github.com/podwright/podwright/internal/simulation"
	"github.com/podwright/podwright/internal/simulation/invariants"
	"github.com/podwright/podwright/workloads/client"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// TestSimulation has users change a StatefulSet at random amid everything that
// can go wrong, and judges each write of the controller.
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

// simulated is what a simulation needs to know of StatefulSets, whose
// controllers have a bug.
func simulated(bug bug) *simulation.Workload {
	return &simulation.Workload{
		Resource: apitest.CustomResource(v1beta1.SchemeGroupVersion.WithKind("StatefulSet"), "statefulsets"),
		Empty:    func() simulation.Object { return &v1beta1.StatefulSet{} },
		Create:   anySet,
		Start:    func(p *simulation.Process) (simulation.Controller, error) { return startSimulated(p, bug) },
		Act:      bug.act,
		Release:  (*simulation.User).AnswerHooks,
		Push:     heal,
		Judge: func(uint64) simulation.Judge {
			return simulation.Judge{Write: invariants.StatefulSet, Rest: invariants.StatefulSetAtRest}
		},
	}
}

// heal makes an end of what users did.
func heal(u *simulation.User) {
	u.Edit(`{"spec":{"replicas":3,"lifecycle":null,"scaleStrategy":null,"reserveOrdinals":[1],
		"selector":{"matchLabels":{"app":"web"},"matchExpressions":null},
		"template":{"spec":{"containers":[{"name":"main","image":"nginx:9"}]}},
		"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0,"paused":false,"minReadySeconds":0,
			"maxUnavailable":1,"podUpdatePolicy":"InPlaceIfPossible","unorderedUpdate":null}}}}`)
	for _, pod := range u.Pods() {
		if len(pod.OwnerReferences) == 0 {
			u.DeletePod(pod.Name, new(int64))
		}
	}
}

// observer tells a simulation when a pass reads the caches.
type observer struct {
	Reader
	process *simulation.Process
}

func (o observer) StatefulSet(namespace, name string) (*v1beta1.StatefulSet, error) {
	o.process.Observe()
	return o.Reader.StatefulSet(namespace, name)
}

func startSimulated(p *simulation.Process, bug bug) (c simulation.Controller, err error) {
	if bug.config != nil {
		bug.config(p.Config)
	}
	o := Options{
		StatefulSets: p.Informer("statefulsets"), Pods: p.Informer("pods"),
		Claims: p.Informer("persistentvolumeclaims"), Revisions: p.Informer("controllerrevisions"),
	}
	if o.Kubernetes, err = p.Kubernetes(); err != nil {
		return c, err
	}
	if o.Workloads, err = client.NewForConfig(p.Config); err != nil {
		return c, err
	}
	if err := caches.AddMemberIndex(o.Pods); err != nil {
		return c, err
	}
	if err := caches.AddOwnerIndex(o.Revisions); err != nil {
		return c, err
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

// anySet is a StatefulSet of a seed.
func anySet(r *rand.Rand) simulation.Object {
	set := testSet(1 + r.Int32N(4))
	set.Spec.Template.Labels = simulation.PodLabels(r)
	set.Spec.PodManagementPolicy = []appsv1.PodManagementPolicyType{appsv1.OrderedReadyPodManagement, appsv1.ParallelPodManagement}[r.IntN(2)]
	set.Spec.UpdateStrategy.RollingUpdate.PodUpdatePolicy = []v1beta1.PodUpdateStrategyType{
		v1beta1.RecreatePodUpdateStrategyType, v1beta1.InPlaceIfPossiblePodUpdateStrategyType, v1beta1.InPlaceOnlyPodUpdateStrategyType}[r.IntN(3)]
	if r.IntN(2) == 0 {
		set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
		for range 2 {
			simulation.Merge(set, simulation.AnyEdit(r, retentionEdits))
		}
	}
	for _, hook := range simulation.Hooks {
		if r.IntN(4) == 0 {
			simulation.Merge(set, hook(r))
		}
	}
	for range r.IntN(8) {
		simulation.Merge(set, anyEdit(r, set))
	}
	return set
}

// edits are what users change about a StatefulSet.
var edits = append([]simulation.Edit{
	simulation.Pick(`{"spec":{"replicas":%v}}`, 0, 1, 2, 3, 4, 5),
	simulation.Pick(`{"spec":{"replicas":%v}}`, 2, 3, 4, 5),
	simulation.Pick(`{"spec":{"replicas":%v}}`, 2, 5),
	simulation.Pick(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:%v"}]}}}}`, 1, 2, 3, 4, 5, 6, "bad"),
	simulation.Pick(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:%v"}]}}}}`, 1, 2, 3, 4),
	simulation.Pick(`{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1","env":[{"name":"A","value":"%v"}]}]}}}}`, 1, 2),
	simulation.Pick(`{"spec":{"template":{"metadata":{"labels":{"version":"%v"}}}}}`, 1, 2),
	simulation.Pick(`{"spec":{"reserveOrdinals":%v}}`, "[]", "[0]", "[1]", "[1,3]"),
	simulation.Pick(`{"spec":{"updateStrategy":{"type":"%v"}}}`, "RollingUpdate", "RollingUpdate", "OnDelete"),
	simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":%v}}}}`, 0, 0, 1, 2, 4),
	simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"podUpdatePolicy":"%v"}}}}`, "ReCreate", "InPlaceIfPossible", "InPlaceOnly"),
	simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"paused":%v}}}}`, true, false, false),
	simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"minReadySeconds":%v}}}}`, 0, 10, 60),
	simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"inPlaceUpdateStrategy":{"gracePeriodSeconds":%v}}}}}`, 0, 5),
	func(r *rand.Rand) string { return simulation.AnyEdit(r, retentionEdits) },
	simulation.Pick(`{"spec":{"revisionHistoryLimit":%v}}`, 0, 1, 10),
	simulation.Pick(`{"metadata":{"annotations":{"note":"%v"}}}`, 1, 2),
}, simulation.Hooks...)

var retentionEdits = []simulation.Edit{
	simulation.Pick(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"%v"}}}`, "Retain", "Delete"),
	simulation.Pick(`{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"%v"}}}`, "Retain", "Delete"),
}

// parallelEdits are those that need Parallel.
var parallelEdits = []simulation.Edit{
	simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":%v}}}}`, 1, 2, `"50%"`),
	simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":{"unorderedUpdate":%v}}}}`, "null", "{}",
		`{"priorityStrategy":{"orderPriority":[{"orderedKey":"apps.kubernetes.io/pod-index"}]}}`),
	simulation.Pick(`{"spec":{"scaleStrategy":%v}}`, "null", `{"maxUnavailable":1}`, `{"maxUnavailable":2}`),
}

// anyEdit is a change of a StatefulSet.
func anyEdit(r *rand.Rand, set *v1beta1.StatefulSet) string {
	if set.Spec.PodManagementPolicy == appsv1.ParallelPodManagement && r.IntN(5) == 0 {
		return simulation.AnyEdit(r, parallelEdits)
	}
	return simulation.AnyEdit(r, edits)
}

// mistakes are what only a webhook would refuse.
var mistakes = []simulation.Mistake{
	{`{"spec":{"selector":{"matchExpressions":[{"key":"app","operator":"Like"}]}}}`, `{"spec":{"selector":{"matchExpressions":null}}}`},
	{`{"spec":{"selector":{"matchLabels":null}}}`, `{"spec":{"selector":{"matchLabels":{"app":"web"}}}}`},
	{`{"spec":{"selector":{"matchLabels":{"app":"other"}}}}`, `{"spec":{"selector":{"matchLabels":{"app":"web"}}}}`},
	{`{"spec":{"replicas":-1}}`, `{"spec":{"replicas":2}}`},
	{`{"spec":{"reserveOrdinals":[-1,0,0]}}`, `{"spec":{"reserveOrdinals":null}}`},
	{`{"spec":{"updateStrategy":{"rollingUpdate":{"partition":-1}}}}`, `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`},
	{`{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":"many"}}}}`, `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1}}}}`},
	{`{"spec":{"updateStrategy":{"rollingUpdate":{"minReadySeconds":-1}}}}`, `{"spec":{"updateStrategy":{"rollingUpdate":{"minReadySeconds":0}}}}`},
	{`{"spec":{"template":{"spec":{"containers":[]}}}}`, `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"nginx:1"}]}}}}`},
}

// act is what users, and the owners of hooks, do in a step.
func act(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	switch n := r.IntN(24); {
	case n == 0:
		u.Err(r, mistakes)
	case n < 14 || pod == nil:
		u.Edit(anyEdit(r, u.Workload().(*v1beta1.StatefulSet)))
	case n < 20:
		u.AnswerHook(pod)
	case n == 20:
		u.CreateStranger(fmt.Sprint("web-", r.IntN(8)))
	case n == 21:
		u.Disown(pod)
	case n == 22: // when it was left over perhaps
		if _, ordinal, ok := ordinals.Split(pod.Name); ok && r.IntN(2) == 0 {
			u.Edit(fmt.Sprintf(`{"spec":{"replicas":%d}}`, ordinal))
		}
		u.TakeName(pod)
	default:
		u.DeleteClaim("data-" + pod.Name)
	}
}
