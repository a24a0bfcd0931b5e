// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/inplace/revision"
	"github.com/podwright/podwright/inplace/rollout"
	fakefixture "github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/workloads/v1beta1"
)

// planned plays a step of an Applier.
//
//	plan                                       a plan whose status is to count 5 pods, and not 3:
//	  [create=POD] [patch=POD [kind=KIND] [label] [resize] [no-update] [in-service]] [delete=POD for=REASON [unchanged] [claims=NAME]]
//	  [otherwise=POD] [update] [missing=NAME] [adopt=NAME] [old=NAME] [claims-wanted=a,b] [failed] [problem]
//	  [status=same|none] [uncreated=N] [shrinks] [held]
//	adopt [other|deleting|unknown]             what the API server says about the set
//	write-revisions, write-or-hold, outdated, report, truncate, create-claims
//	abandon ERROR
//	change-claims NAME UID…
//	apply-pods, apply-deletion
func (w *world) planned(s step) bool {
	ctx := w.c.T.Context()
	switch s.name {
	case "plan":
		w.a = w.plan(s)
	case "adopt":
		w.came(w.a.Adopt(ctx, owner("set"), w.liveSet(s)))
	case "write-revisions":
		settled, err := w.a.WriteRevisions(ctx)
		fmt.Fprintln(&w.out, "settled:", settled)
		w.came(err)
	case "write-or-hold":
		other := &rollout.Plan{}
		settled, err := w.a.WriteOrHold(ctx, func(refused error) *rollout.Plan {
			fmt.Fprintln(&w.out, "refused:", refused)
			return other
		})
		fmt.Fprintf(&w.out, "settled %t, held %t, another plan %t\n", settled, w.a.Held(), w.a.Plan == other)
		w.came(err)
	case "outdated":
		outdated, err := w.a.Outdated(ctx)
		fmt.Fprintln(&w.out, "outdated:", outdated)
		w.came(err)
	case "abandon":
		w.came(w.a.Abandon(ctx, failure(s.words[0])))
	case "report":
		w.came(w.a.Report(ctx))
	case "truncate":
		w.came(w.a.TruncateHistory(ctx))
	case "create-claims":
		w.came(w.a.CreateClaims(ctx))
	case "change-claims":
		w.came(w.a.ChangeClaims(ctx, []rollout.ClaimPatch{w.claimPatch(s.words[0], s.words[1:]...)}))
	case "apply-pods":
		w.applyPods()
	case "apply-deletion":
		deleted, err := w.a.Delete(ctx, &w.a.Plan.Delete[0])
		fmt.Fprintf(&w.out, "deleted %t, creations wait %t\n", deleted, w.misfits.waits(w.set, w.now()) != nil)
		w.came(err)
	default:
		return false
	}
	return true
}

func (w *world) plan(s step) *Applier[v1beta1.StatefulSetStatus] {
	plan := &rollout.Plan{Revisions: revision.Changes{Missing: s.values["missing"], Adopt: w.knownRevisions(s.list("adopt"))}}
	if s.has("update") {
		plan.Revisions.Create, plan.Revisions.Current = history("web-2", "nginx:2"), history("web-1", "nginx:1")
	}
	for _, name := range s.list("create") {
		plan.Create = append(plan.Create, rollout.PodCreation{Pod: pod(name)})
	}
	for _, name := range s.list("patch") {
		patch := w.patch(step{words: append([]string{name}, s.words...), values: s.values})
		patch.ForUpdate, patch.InService = !s.has("no-update"), s.has("in-service")
		plan.Patch = append(plan.Patch, patch)
	}
	for _, name := range s.list("delete") {
		d := rollout.PodDeletion{Pod: w.known(name), For: rollout.DeletionReason(s.values["for"]), Unchanged: s.has("unchanged")}
		for _, claim := range s.list("claims") {
			d.ChangeClaims = append(d.ChangeClaims, w.claimPatch(claim, "set"))
		}
		plan.Delete = append(plan.Delete, d)
	}
	for _, name := range s.list("claims-wanted") {
		plan.CreateClaims = append(plan.CreateClaims, claim(name))
	}
	if name := s.values["otherwise"]; name != "" {
		plan.Otherwise.Delete = []rollout.PodDeletion{{Pod: w.known(name), For: rollout.DeleteForUpdate}}
	}
	if s.has("problem") {
		plan.Problems = []rollout.Problem{{Condition: "FailedUpdate", Err: fakefixture.ErrLost}}
	}
	a := w.applier(plan)
	a.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
	a.Reporting.Recreates, a.Shrinks = w.recreates, s.has("shrinks")
	if s.values["uncreated"] != "" {
		a.Uncreated = a.Observed.DeepCopy()
		fmt.Sscan(s.values["uncreated"], &a.Uncreated.Replicas)
	}
	if s.has("held") {
		a.hold(plan, fakefixture.ErrQuota)
	}
	if s.has("failed") {
		_ = a.Failed("FailedCreate", fakefixture.ErrQuota)
	}
	switch s.values["status"] {
	case "same":
		a.SetStatus(a.Observed.DeepCopy())
	case "none":
		a.Status = nil
	}
	plan.Revisions.Delete = w.knownRevisions(s.list("old"))
	return a
}

// liveSet reads the set past all caches.
func (w *world) liveSet(s step) func() (metav1.Object, error) {
	return func() (metav1.Object, error) {
		fmt.Fprintln(&w.out, "asks about the set")
		live := &metav1.ObjectMeta{UID: "set"}
		switch {
		case s.has("other"):
			live.UID = "other"
		case s.has("deleting"):
			live.DeletionTimestamp = &metav1.Time{}
		case s.has("unknown"):
			return nil, fakefixture.ErrInternal
		}
		return live, nil
	}
}

// kindControl is the control of a kind: it notes what it is called for.
type kindControl struct {
	PodControl
	called chan string
}

func (k kindControl) Create(ctx context.Context, c *rollout.PodCreation) error {
	k.called <- "create " + c.Pod.Name
	return k.PodControl.Create(ctx, c)
}

func (k kindControl) Delete(ctx context.Context, d *rollout.PodDeletion) (bool, error) {
	k.called <- "delete " + d.Pod.Name
	return k.PodControl.Delete(ctx, d)
}

func (k kindControl) Patch(ctx context.Context, p *rollout.PodPatch) error {
	k.called <- "patch " + p.Pod.Name
	return k.PodControl.Patch(ctx, p)
}

// applyPods applies the pods of the plan through the control of a kind, and shows about which pods the budget was asked.
func (w *world) applyPods() {
	var asked []string
	if w.budget != "" {
		w.a.Budget = budget(func(pod *corev1.Pod) (bool, error) {
			asked = append(asked, pod.Name)
			return w.budget != "denies", map[bool]error{true: fakefixture.ErrLost}[w.budget == "lost"]
		})
	}
	control := kindControl{w.a, make(chan string, 9)}
	err := w.a.ApplyPods(w.c.T.Context(), control)
	close(control.called)
	for call := range control.called {
		fmt.Fprintln(&w.out, "calls", call)
	}
	if slices.Sort(asked); len(asked) > 0 {
		fmt.Fprintln(&w.out, "asks the budget about", asked)
	}
	w.came(err)
}
