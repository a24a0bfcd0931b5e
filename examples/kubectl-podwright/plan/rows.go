// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/sidecar/sidecarset"
)

// Row is what becomes of a pod.
type Row struct {
	// Pod is the name of the pod, or what the name of a new one begins with. It is "node X" for one that a node lacks, or
	// "claim X". Of a UnitedDeployment it is that of a workload or a pod, as TYPE/NAME, or "subset X".
	Pod string `json:"name"`
	// Action is what is done, or "wait".
	Action string `json:"action"`
	// Rule is what a pod waits for; empty if it does not wait.
	Rule rollout.Rule `json:"rule,omitempty"`
	// Detail is the revision that a pod comes to be of, how much a claim grows, or why a pod waits.
	Detail string `json:"detail,omitempty"`
}

// deletions says what the deletion of a pod is, by its reason.
var deletions = map[rollout.DeletionReason]string{
	rollout.DeleteForScale: "delete", rollout.DeleteForUpdate: "recreate", rollout.DeleteFailed: "replace", rollout.DeleteUnselected: "delete",
}

// patches says what the patch of a pod is, by its kind.
var patches = map[rollout.PatchKind]string{
	rollout.PatchUpdateInPlace: "update in place", rollout.PatchPrepare: "prepare by its hook", rollout.PatchCancelDelete: "keep after all",
	rollout.PatchAdopt: "adopt", rollout.PatchRelease: "release", rollout.PatchRefresh: "record its state", rollout.PatchIdentify: "restore its labels",
	sidecarset.PatchReset: "empty the sidecar that does not work",
}

// Rows lists what becomes of pods, of claims that grow, and of a UnitedDeployment's workloads. First comes what is done, and
// then who waits, each by name. Pods of which there is nothing to say are left out.
func (p *Plan) Rows() []Row {
	to := ""
	if p.Revisions.Update != nil {
		to = "to revision " + p.Revisions.Update.Name
	}
	var rows []Row
	for _, c := range p.Create {
		rows = append(rows, Row{Pod: cmp.Or(c.Pod.Name, c.Pod.GenerateName+"*"), Action: "create",
			Detail: "at revision " + c.Pod.Labels[appsv1.ControllerRevisionHashLabelKey]})
	}
	for _, d := range p.Delete {
		row := Row{Pod: p.NameOf(d.Pod), Action: deletions[d.For]}
		if d.For == rollout.DeleteForUpdate {
			row.Detail = to
		}
		rows = append(rows, row)
	}
	for _, change := range p.Patch {
		row := Row{Pod: p.NameOf(change.Pod), Action: cmp.Or(patches[change.Kind], string(change.Kind))}
		if change.Kind == rollout.PatchUpdateInPlace {
			row.Detail = to
		}
		rows = append(rows, row)
	}
	slices.SortStableFunc(rows, byPod)
	for _, c := range p.Claims {
		rows = append(rows, Row{Pod: "claim " + c.Claim.Name, Action: "resize",
			Detail: fmt.Sprintf("from %s to %s, of pod %s", c.Claim.Spec.Resources.Requests.Storage(), c.Resources.Requests.Storage(), c.Pod)})
	}
	return slices.Concat(rows, p.Workloads, p.waits())
}

// waits lists who waits.
func (p *Plan) waits() []Row {
	var rows []Row
	for _, w := range p.Waiting {
		rows = append(rows, Row{Pod: p.NameOf(w.Pod), Action: "wait", Rule: w.Reason.Rule, Detail: w.Reason.String()})
	}
	for _, w := range p.Nodes {
		rows = append(rows, Row{Pod: w.Subject.String(), Action: "wait", Rule: w.Reason.Rule, Detail: w.Reason.String()})
	}
	slices.SortStableFunc(rows, byPod)
	return rows
}

// ForgetNames says that the workload, which is of a kind, does not exist yet, or will be written before it is reconciled.
// Names that are generated for what it creates then depend on what it will be, and end in an asterisk.
func (p *Plan) ForgetNames(kind *workload.Entry) {
	short := func(name string) string { return name[:strings.LastIndexByte(name, '-')+1] + "*" }
	if kind.NamesPodsBy(workload.NamesOfUID) || kind.NamesPodsBy(workload.NamesOfVersion) {
		for i := range p.Create {
			p.Create[i].Pod = p.Create[i].Pod.DeepCopy()
			p.Create[i].Pod.Name = short(p.Create[i].Pod.Name)
		}
	}
	for i := range p.Workloads {
		if row := &p.Workloads[i]; row.Action == "create" {
			row.Pod = short(row.Pod)
		}
	}
}

func byPod(a, b Row) int { return cmp.Compare(a.Pod, b.Pod) }
