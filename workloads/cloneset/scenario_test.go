// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/internal/testing/scenario"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// setScenario is a cluster of one CloneSet.
type setScenario struct {
	*scenario.Cluster
	set      *v1alpha1.CloneSet
	features Features
	lost     map[string]time.Time // nodes that cannot be reached, and since when
	unused   map[string]bool      // instances of which no pod could be created
	jobs     []string             // that pull images ahead
}

func newScenario(t scenario.TB) *setScenario {
	w := &setScenario{lost: map[string]time.Time{}, unused: map[string]bool{}, set: patches.Changed(words, &v1alpha1.CloneSet{}, "new")}
	w.Cluster = scenario.New(t, *metav1.NewControllerRef(w.set, v1alpha1.SchemeGroupVersion.WithKind("CloneSet")), words)
	w.GeneratedNames = true
	return w
}

// scripted is a new scenario as a player of scripts.
func scripted(t scenario.TB) (*scenario.Cluster, *setScenario) {
	w := newScenario(t)
	return w.Cluster, w
}

// words are what scripts say of CloneSets and their pods.
var words = patches.Read("testdata/words.yaml", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))

// TestScripts plays the rollouts in testdata: see scenario.RunScripts and setScenario.Command. Keys of spec are words of CloneSets, which
// testdata/words.yaml explains.
func TestScripts(t *testing.T) { scenario.RunScripts(t, "testdata/scripts", scripted) }

func (w *setScenario) snapshot() *Snapshot {
	return &Snapshot{
		Set: w.set.DeepCopy(), Pods: owned(w, w.Pods), Claims: owned(w, w.Claims),
		Revisions: slices.Clone(w.Revisions), Now: w.Now, Features: w.features, Unreachable: w.lost, Unused: w.unused, Jobs: w.jobs,
	}
}

// owned returns the objects that name the CloneSet as an owner.
func owned[T metav1.Object](w *setScenario, objects []T) (owned []T) {
	for _, object := range objects {
		if slices.ContainsFunc(object.GetOwnerReferences(), func(o metav1.OwnerReference) bool { return o.UID == w.set.UID }) {
			owned = append(owned, object)
		}
	}
	return owned
}

// apply does to the cluster what a plan says.
func (w *setScenario) apply(plan *Plan) {
	for _, claim := range plan.DeleteClaims {
		w.DeleteClaim(claim)
	}
	for _, claim := range plan.CreateClaims {
		if !metav1.IsControlledBy(claim, w.set) || claim.Labels[v1alpha1.CloneSetInstanceIDLabel] == "" {
			w.T.Fatalf("claim %+v, want one of the CloneSet and an instance", claim.ObjectMeta)
		}
	}
	w.ApplyPlan(&plan.Plan)
	for i, r := range w.Revisions {
		if label := plan.PreDownload.Label; label != "" && r.Name == plan.Revisions.Update.Name {
			w.Revisions[i] = r.DeepCopy()
			w.Revisions[i].Labels[label] = "true"
		}
	}
	for _, c := range plan.Create {
		w.unused[instanceID(c.Pod)] = w.Pod(c.Pod.Name) == nil
	}
	if plan.PrunePodsToDelete {
		w.set.Spec.ScaleStrategy.PodsToDelete = plan.PodsToDelete
		w.set.Generation++
	}
	if plan.Status != nil {
		w.set.Status = *plan.Status.DeepCopy()
	}
	w.set.ResourceVersion = w.Bump()
}

// acts tells whether a plan does anything at all.
func acts(plan *Plan) bool {
	return scenario.Acts(&plan.Plan) || plan.Status != nil || plan.PrunePodsToDelete || len(plan.DeleteClaims) > 0
}

// Reconcile plans once, shows the plan and applies it.
func (w *setScenario) Reconcile(out *strings.Builder) bool {
	plan := NewPlan(w.snapshot())
	scenario.ShowReconcile(func(out *strings.Builder) { w.show(plan, out) }, out)
	w.apply(plan)
	return acts(plan)
}

// settle lets kubelets and controller act until there is nothing to do.
func (w *setScenario) settle() { w.Settle(w.Reconcile, &strings.Builder{}) }

func (w *setScenario) show(plan *Plan, out *strings.Builder) {
	w.ShowRevisions(&plan.Revisions, out)
	w.ShowClaimCreations(plan.CreateClaims, out)
	w.showStage(&plan.Stage, out)
	for _, claim := range plan.DeleteClaims {
		fmt.Fprintf(out, "  delete claim %s\n", w.Unalias(claim.Name))
	}
	for _, h := range plan.PatchClaims {
		fmt.Fprintf(out, "  hand claim over to %s\n", w.Alias(h.Owners[len(h.Owners)-1].Name))
	}
	w.ShowDeletedRevisions(&plan.Revisions, out)
	w.ShowOtherwise(func(out *strings.Builder) { w.showStage(&plan.Otherwise, out) }, out)
	w.ShowReasons(&plan.Plan, out)
	showPreDownload(plan, out)
}

// showPreDownload shows which images are pulled ahead, or why none are.
func showPreDownload(plan *Plan, out *strings.Builder) {
	p := &plan.PreDownload
	for _, job := range p.Create {
		fmt.Fprintf(out, "  pull %s for job %s\n", job.Spec.Image, job.Name)
	}
	for _, job := range p.Delete {
		fmt.Fprintf(out, "  delete job %s\n", job)
	}
	if p.Label != "" {
		fmt.Fprintf(out, "  label revision %s %s\n", plan.Revisions.Update.Name, p.Label)
	}
	if p.Reason != "" {
		fmt.Fprintf(out, "  pulls nothing: %s\n", p.Reason)
	}
}

func (w *setScenario) showStage(stage *rollout.Stage, out *strings.Builder) {
	w.ShowCreations(stage.Create, out)
	for _, d := range stage.Delete {
		why, claims := "", ""
		if d.For == rollout.DeleteForUpdate {
			why = " to recreate it"
		}
		if len(d.DeleteClaims) > 0 {
			claims = " and its claims"
		}
		fmt.Fprintf(out, "  delete %s%s%s\n", w.Alias(d.Pod.Name), why, claims)
	}
	w.ShowPatches(stage.Patch, out)
}

// Status shows the status in a line, and every condition in one more.
func (w *setScenario) Status(out *strings.Builder) {
	s := w.set.Status
	fmt.Fprintf(out, "replicas=%d ready=%d available=%d updated=%d updatedReady=%d expectedUpdated=%d current=%s update=%s\n",
		s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.UpdatedReplicas, s.UpdatedReadyReplicas, s.ExpectedUpdatedReplicas,
		s.CurrentRevision, s.UpdateRevision)
	for _, c := range s.Conditions {
		fmt.Fprintf(out, "%s=%s: %s\n", c.Type, c.Status, w.Unalias(c.Message))
	}
}

func (w *setScenario) MinReadySeconds() int32 { return w.set.Spec.MinReadySeconds }

// Command knows the commands of CloneSets:
//
//	plan                    shows what would be done now, and does nothing
//	revisions               shows the revisions, with the hashes of claim templates
//	graceful                from now on what is deleted stays for as long as it would in a cluster
//	terminate               the CloneSet is being deleted
//	no-status               its status is lost
//	jobs name…              jobs are there that pull images ahead
//	add-revision            a revision is there that has no owner, and cannot be read
//	lose pod                nothing is heard of its node: the controller manager has reported that, and that the pod is not ready
func (w *setScenario) Command(d *datadriven.TestData, out *strings.Builder) bool {
	switch d.Cmd {
	case "plan":
		plan := NewPlan(w.snapshot())
		if w.show(plan, out); plan.PrunePodsToDelete {
			fmt.Fprintf(out, "  prune podsToDelete\n")
		}
		if plan.RequeueAfter > 0 {
			fmt.Fprintf(out, "  again in %s\n", plan.RequeueAfter)
		}
	case "revisions":
		w.showRevisions(out)
	case "graceful":
		w.Graceful = true
	case "terminate":
		w.set.DeletionTimestamp = &metav1.Time{Time: w.Now}
	case "no-status":
		w.set.Status = v1alpha1.CloneSetStatus{}
	case "jobs":
		for _, arg := range d.CmdArgs {
			w.jobs = append(w.jobs, arg.Key)
		}
	case "add-revision":
		orphan := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web-orphan", Labels: map[string]string{"app": "web"}}, Revision: 99, Data: runtime.RawExtension{Raw: []byte(`{"of":"another"}`)}}
		w.Revisions = append(w.Revisions, orphan)
	case "lose":
		name := w.Name(d.CmdArgs[0].Key)
		w.lost[w.Pod(name).Spec.NodeName] = w.Now
		w.Freeze(name, true)
		w.Edit(name, func(pod *corev1.Pod) { w.SetCondition(pod, corev1.PodReady, corev1.ConditionFalse) })
	default:
		return false
	}
	return true
}

// showRevisions shows the revisions by their numbers.
func (w *setScenario) showRevisions(out *strings.Builder) {
	for _, r := range slices.SortedFunc(slices.Values(w.Revisions), func(a, b *appsv1.ControllerRevision) int { return int(a.Revision - b.Revision) }) {
		fmt.Fprintf(out, "%d %s", r.Revision, r.Name)
		if hash, found := r.Annotations[v1alpha1.CloneSetClaimTemplateHashAnnotation]; found {
			fmt.Fprintf(out, " claims %q", hash)
		}
		fmt.Fprintln(out)
	}
}

// Feature switches a feature on.
func (w *setScenario) Feature(name string) { w.SwitchOn(&w.features, name) }

// Spec changes fields of the spec, each given as key=value, in one write. Pods to delete are named as they are shown.
func (w *setScenario) Spec(changes ...string) {
	for i, change := range changes {
		if pods, is := strings.CutPrefix(change, "delete="); is {
			names := strings.Split(pods, ",")
			for j := range names {
				names[j] = w.Name(names[j])
			}
			changes[i] = "delete=" + strings.Join(names, ",")
		}
	}
	scenario.ChangeSpec(words, w.set, changes...)
}
