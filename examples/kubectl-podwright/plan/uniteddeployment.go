// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/workloads/uniteddeployment"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

var (
	cloneSets            = schema.GroupKind{Group: workload.Group, Kind: "CloneSet"}
	advancedStatefulSets = schema.GroupKind{Group: workload.Group, Kind: "StatefulSet"}
)

func (p *Planner) unitedDeployment(read *reader, key types.NamespacedName, o *workload.Object) (*Plan, error) {
	set := &v1alpha1.UnitedDeployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, set); err != nil {
		return nil, err
	}
	without, err := p.without()
	if err != nil {
		return nil, err
	}
	r, err := uniteddeployment.NewReconciler(uniteddeployment.Options{Kubernetes: p.kube, Workloads: p.workloads,
		Without: without, ControllerOptions: p.options(read.about("uniteddeployments", set)), Features: p.settings.UnitedDeployment(p.gates)})
	if err != nil {
		return nil, err
	}
	snapshot, err := r.Snapshot(read.ctx, key)
	if err != nil {
		return nil, err
	}
	next := uniteddeployment.NewPlan(snapshot)
	plan := &Plan{History: snapshot.Revisions, Text: next.String(), Subsets: next.Subsets, Workloads: unitedRows(next)}
	plan.Revisions = next.Revisions
	plan.Problems = next.Problems
	return plan, nil
}

// without lists the kinds of templates that the API server does not have.
func (p *Planner) without() (kinds []uniteddeployment.TemplateKind, err error) {
	for of, kind := range map[uniteddeployment.TemplateKind]schema.GroupKind{
		uniteddeployment.CloneSet: cloneSets, uniteddeployment.AdvancedStatefulSet: advancedStatefulSets} {
		served, err := p.lister.Serves(kind)
		if err != nil {
			return nil, err
		}
		if !served {
			kinds = append(kinds, of)
		}
	}
	return kinds, nil
}

// typeOf says how the workloads of a kind of template are called on a command line.
var typeOf = map[uniteddeployment.TemplateKind]string{
	uniteddeployment.StatefulSet: "statefulset.apps", uniteddeployment.AdvancedStatefulSet: "statefulset.apps.kruise.io",
	uniteddeployment.CloneSet: "cloneset.apps.kruise.io", uniteddeployment.Deployment: "deployment.apps",
}

// unitedRows lists what is done to workloads and pods, and which subsets hold pods back.
func unitedRows(p *uniteddeployment.Plan) (rows []Row) {
	say := func(name, action, format string, args ...any) {
		rows = append(rows, Row{Pod: name, Action: action, Detail: fmt.Sprintf(format, args...)})
	}
	called := func(c *uniteddeployment.Child) string { return typeOf[c.Kind] + "/" + c.Object.GetName() }
	for _, c := range p.Create {
		at := slices.IndexFunc(p.Subsets, func(s uniteddeployment.SubsetPlan) bool { return s.Name == c.Subset })
		say(typeOf[c.Kind]+"/"+c.Object.GetName(), "create", "for subset %s with %s", c.Subset, pods(p.Subsets[at].Replicas))
	}
	for i := range p.Adopt {
		say(called(&p.Adopt[i]), "adopt", "for subset %s", p.Adopt[i].Subset)
	}
	for i := range p.Release {
		say(called(&p.Release[i]), "release", "its labels do not match the selector")
	}
	for i := range p.Delete {
		say(called(&p.Delete[i]), "delete", "no subset has it")
	}
	for i := range p.Update {
		u := &p.Update[i]
		if u.Wanted == nil {
			say(called(&u.Child), "scale", "to %s, partition %d", pods(u.Replicas), u.Partition)
		} else {
			say(called(&u.Child), "update", "to revision %s with %s, partition %d", p.Revisions.Update.Name, pods(u.Replicas), u.Partition)
		}
	}
	for _, pod := range p.DeletePods {
		say("pod/"+pod.Name, "delete", "it keeps the update from going on")
	}
	for _, pod := range p.Blocking {
		rows = append(rows, Row{Pod: "pod/" + pod.Name, Action: "wait", Rule: uniteddeployment.RuleUnready,
			Detail: fmt.Sprintf("the update waits for it: it is deleted when it has not been ready for %v", uniteddeployment.UnreadyFor)})
	}
	slices.SortStableFunc(rows, byPod)
	for _, subset := range p.Subsets {
		if subset.Partition > 0 {
			rows = append(rows, Row{Pod: "subset " + subset.Name, Action: "wait", Rule: rollout.RulePartition,
				Detail: fmt.Sprintf("partition %d: so many of its %s stay at their revision", subset.Partition, pods(subset.Replicas))})
		}
	}
	return rows
}

// pods counts pods in words.
func pods(n int32) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}
