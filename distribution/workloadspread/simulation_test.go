// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/caches"
	"github.com/podwright/podwright/internal/testing/conformance/editing"
	"github.com/podwright/podwright/internal/testing/readers"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
	"github.com/podwright/podwright/internal/workload"
)

// TestSimulation has users change a WorkloadSpread and its workload at random, amid everything that can go wrong. The test judges each
// write of the controller, and where each new pod is sent. The controller of a CloneSet places its pods itself. Two replicas of the
// webhook place the pods of a Deployment: two that do not know of each other, and two that do.
func TestSimulation(t *testing.T) {
	cloneSet, deployment, together := simulated(&bug{}), simulated(&bug{of: ofDeployment}), simulated(&bug{of: ofDeployment, together: true})
	simulation.Check(t, cloneSet, simulation.Dying(deployment), together, simulation.Dying(cloneSet), deployment, simulation.Dying(together))
}

// TestSimulationReplays plays a seed twice: not a line of the history may differ.
// A shorter one is the beginning of a longer one.
func TestSimulationReplays(t *testing.T) {
	t.Parallel()
	simulation.CheckReplay(t, simulated(&bug{of: ofDeployment}), 2)
	simulation.CheckReplay(t, simulated(&bug{of: ofRollout, together: true}), 3) // two pods wait for the same pause
}

// TestUsersEditEveryField has the users of the histories edit every field of the spec that admission lets them edit.
func TestUsersEditEveryField(t *testing.T) {
	t.Parallel()
	editing.Check(t, editing.Subject[v1alpha1.WorkloadSpread]{Create: spread.ValidateCreate, Update: spread.ValidateUpdate,
		Immutable: map[string]string{"targetRef.kind": `{"targetRef":{"kind":"Deployment","apiVersion":"apps/v1"}}`, "targetRef.name": `{"targetRef":{"name":"other"}}`}}, simulated(&bug{}))
}

// spreadKind is a kind of workload that histories spread: how it is named, what is read of it, and who acts for it.
type spreadKind struct {
	apiVersion, kind string
	reads            []podwright.Resource
	beside           func(*bug) *simulation.Subject
}

// What is spread: a CloneSet, whose controller places its pods, a Deployment, a Job, and a workload of a kind of the white list. The pods of
// the latter are those of ReplicaSets.
var (
	ofCloneSet   = &spreadKind{"apps.kruise.io/v1alpha1", "CloneSet", []podwright.Resource{resourceOf(workload.CloneSets)}, cloneSetBeside}
	ofDeployment = &spreadKind{"apps/v1", "Deployment", []podwright.Resource{resourceOf(workload.Deployments), resourceOf(workload.ReplicaSets)}, deploymentBeside}
	ofJob        = &spreadKind{"batch/v1", "Job", []podwright.Resource{resourceOf(workload.Jobs)}, jobBeside}
	ofRollout    = &spreadKind{"argoproj.io/v1alpha1", "Rollout", []podwright.Resource{customRead, resourceOf(workload.ReplicaSets)}, customBeside}
)

// simulated is what a simulation needs to know of WorkloadSpreads, of whose parts one has a bug.
func simulated(bug *bug) *simulation.Subject {
	if bug.of == nil {
		bug.of = ofCloneSet
	}
	w := &simulation.Subject{
		Resource: spreadResource,
		Empty:    func() simulation.Object { return &v1alpha1.WorkloadSpread{} },
		Nodes:    3,
		StartIn:  4 * time.Second,
		Reports:  true,
		PodsEnd:  bug.of == ofJob,
		Create: func(r *rand.Rand) simulation.Object {
			ws := anySpread(r)
			ws.Spec.TargetReference = &v1alpha1.TargetReference{APIVersion: bug.of.apiVersion, Kind: bug.of.kind, Name: "web"}
			return ws
		},
		Start:    func(p *simulation.Process) (simulation.Controller, error) { return startSimulated(p, bug) },
		Patience: 10 * time.Minute,
		Act:      bug.controller.Act(act),
		Rare:     actRarely,
		Push:     push,
		Ignores:  []string{string(caches.Claims), string(caches.Revisions)},
		Beside:   []*simulation.Subject{bug.of.beside(bug)},
		Judge:    judgeAs(func(s *invariants.State) *invariants.State { return s }),
	}
	if bug.of == ofDeployment || bug.of == ofRollout {
		w.Further = []simulation.Further{{Resource: others[3], Empty: func() simulation.Object { return &appsv1.ReplicaSet{} }}}
	}
	if bug.of != ofCloneSet {
		w.Webhooks = 2
		w.StartWebhook = func(p *simulation.Process) (simulation.Webhook, error) { return startWebhook(p, bug) }
	}
	return w
}

// judgeAs judges histories of one WorkloadSpread, which seen finds in the end.
func judgeAs(seen func(*invariants.State) *invariants.State) func(uint64) simulation.Judge {
	return func(uint64) simulation.Judge {
		return simulation.Judge{Write: (&invariants.SpreadMoves{}).WorkloadSpread, Witness: invariants.WorkloadSpreadWitness,
			Settled: func(s *invariants.State, pushed bool) []invariants.Violation {
				ws, _ := seen(s).Workload.(*v1alpha1.WorkloadSpread)
				return invariants.WorkloadSpreadSettled(s, pushed && ws != nil && ws.Spec.ScheduleStrategy.Type != v1alpha1.AdaptiveWorkloadSpreadScheduleStrategyType)
			}}
	}
}

func startSimulated(p *simulation.Process, bug *bug) (simulation.Controller, error) {
	r, err := bug.controller.Start(p, func(p *simulation.Process) (o Options, err error) {
		reader, err := readerOf(p, bug)
		if err != nil {
			return o, err
		}
		if bug.of == ofRollout {
			o.Custom = customKinds(p)
		}
		o.Reader = readers.Noting{Reader: misread(reader, bug.sees, bug.hides), Resource: resourceSpreads, Note: p.Observe}
		if o.Kubernetes, err = p.Kubernetes(); err == nil {
			o.Distribution, err = client.NewForConfig(p.Config)
		}
		return o, err
	}, NewReconciler)
	if err != nil {
		return simulation.Controller{}, err
	}
	if bug.two {
		return reconcileTwo(p, r)
	}
	return simulation.Controller{Reconcile: r.Reconcile, Unfinished: func() (string, error) { return unfinished(r, simulation.Web) }}, nil
}

// unfinished shows what a reconcile of a WorkloadSpread would do.
func unfinished(r Reconciler, key types.NamespacedName) (string, error) {
	plan, err := r.Plan(context.Background(), key)
	if plan == nil || err != nil {
		return "", err
	}
	if plan.Computed != nil && len(plan.Deletions) > plan.MayDelete { // the others wait for their turn (WS-36)
		plan.Deletions = plan.Deletions[:plan.MayDelete]
	}
	return plan.String(), rollout.ErrorOf(plan.Problems)
}

// readerOf reads the caches of a process.
func readerOf(p *simulation.Process, bug *bug) (podwright.Reader, error) {
	reader := caches.Reader{}
	for _, resource := range append([]podwright.Resource{resourceSpreads, resourcePods, caches.Nodes}, bug.of.reads...) {
		name, _, _ := strings.Cut(string(resource), ".argoproj.io")
		reader[resource] = p.Informer(name).GetIndexer()
		if err := reader.Open(resource, nil, caches.ByOwner, caches.ByNamespace); err != nil {
			return nil, err
		}
	}
	return reader, nil
}

// anySpread is the WorkloadSpread of a seed.
func anySpread(r *rand.Rand) *v1alpha1.WorkloadSpread {
	ws := &v1alpha1.WorkloadSpread{}
	simulation.Merge(ws, anySubsets(r))
	for range r.IntN(2) {
		simulation.Merge(ws, anyStrategy(r))
	}
	return ws
}

// anySubsets are up to four subsets with limits of one kind, of which the last has none.
func anySubsets(r *rand.Rand) string {
	names := []string{"a", "b", "c", "d"}[r.IntN(2):]
	n, inPercent := 1+r.IntN(len(names)), r.IntN(3) == 0
	subsets := make([]map[string]any, 0, n)
	left := 100
	for i, name := range names[:n] {
		s := map[string]any{"name": name}
		switch {
		case i == n-1:
		case inPercent:
			percent := []int{10, 20, 25, 33, 50}[r.IntN(5)]
			percent = min(percent, left)
			left -= percent
			s["maxReplicas"] = fmt.Sprint(percent, "%")
		default:
			s["maxReplicas"] = r.IntN(4)
		}
		if value := []string{"", "a", "b"}[r.IntN(3)]; value != "" {
			s["requiredNodeSelectorTerm"] = map[string]any{"matchExpressions": onRing(value)}
		}
		if r.IntN(3) == 0 {
			s["preferredNodeSelectorTerms"] = []any{map[string]any{"weight": 1 + r.IntN(3), "preference": map[string]any{"matchExpressions": onRing([]string{"a", "b"}[r.IntN(2)])}}}
		}
		if r.IntN(3) == 0 {
			s["tolerations"] = []any{map[string]any{"key": "drain", "operator": "Exists"}}
		}
		if r.IntN(2) == 0 {
			s["patch"] = map[string]any{"metadata": map[string]any{"labels": map[string]any{"subset": name}}}
		}
		subsets = append(subsets, s)
	}
	data, err := json.Marshal(map[string]any{"spec": map[string]any{"subsets": subsets}})
	if err != nil {
		panic(err)
	}
	return string(data)
}

func onRing(value string) []any {
	return []any{map[string]any{"key": simulation.Ring, "operator": "In", "values": []string{value}}}
}

// anyStrategy is how pods are moved, and anyFilter has other pods of the workload be spread, or others be wanted.
var anyStrategy, anyFilter = simulation.ReadEdits("strategy")[0], simulation.ReadEdits("filter")[0]

// act is what users of a WorkloadSpread do in a step, and others to the pods.
func act(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	switch n := r.IntN(20); {
	case n == 0:
		if edit := anyFilter(r); u.Workload().(*v1alpha1.WorkloadSpread).Spec.TargetReference.Kind == "Job" {
			u.Edit(aboutJob(edit))
		} else {
			u.Edit(edit)
		}
	case n < 6 || pod == nil:
		u.Edit(anySubsets(r))
	case n < 10:
		u.Edit(anyStrategy(r))
	case n == 10:
		u.Edit(simulation.Pick(`{"metadata":{"annotations":{"workloadspread.kruise.io/ignore-patch-existing-pods-metadata":%v}}}`, `"true"`, "null")(r))
	case n == 11:
		target := u.Workload().(*v1alpha1.WorkloadSpread).Spec.TargetReference
		u.Delete(metav1.DeletePropagationBackground)
		ws := anySpread(r)
		ws.Spec.TargetReference = target
		u.CreateAs(ws)
	case n < 17:
		u.DeletePod(pod.Name, nil)
	case n == 17:
		u.PatchPod(pod.Name, simulation.Pick(`{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":%v}}}`, "null", `"7"`, `"x"`)(r))
	default:
		u.PatchPod(pod.Name, simulation.Pick(`{"metadata":{"annotations":{"apps.kruise.io/matched-workloadspread":%v}}}`, "null", `"{"`, `"{\"name\":\"other\",\"subset\":\"a\"}"`)(r))
	}
}

// actRarely is what users of a WorkloadSpread do now and then.
func actRarely(u *simulation.User, r *rand.Rand) {
	if r.IntN(2) == 0 {
		u.Edit(simulation.Pick(`{"spec":%v}`, `{"scheduleStrategy":{"type":"Adaptive","adaptive":{"disableSimulationSchedule":true}}}`,
			`{"scheduleStrategy":{"type":"Adaptive","adaptive":{"disableSimulationSchedule":false}}}`)(r))
		return
	}
	group, _, _ := strings.Cut(u.Workload().(*v1alpha1.WorkloadSpread).Spec.TargetReference.APIVersion, "/") // its version does not matter
	u.Edit(fmt.Sprintf(`{"spec":{"targetRef":{"apiVersion":%q}}}`, group+simulation.Pick("/%v", "v1", "v1alpha1", "v1beta1")(r)))
}

// push is all that users do in the end: they see to it that there are nodes for all subsets, which take all pods.
func push(u *simulation.User) {
	for i, ring := range []string{"a", "b", "a", "b", "a"} {
		u.ReadyNode(fmt.Sprint("n", i+1), ring)
	}
	if u.Workload().GetGeneration()%3 > 0 {
		u.Edit(`{"spec":{"scheduleStrategy":{"type":"Fixed","adaptive":null}}}`)
	}
}
