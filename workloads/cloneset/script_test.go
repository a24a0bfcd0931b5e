package cloneset

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/rollout"
	"github.com/podwright/podwright/lifecycle"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// TestScripts plays the rollouts in testdata and compares every plan. To
// accept a change of behaviour, run it with -rewrite and read the difference.
//
//	spec key=value…     changes the CloneSet
//	features key…       switches features on
//	pass [n]            plans and carries out, n times
//	kubelet [pods]      starts and restarts containers, all or of the named pods
//	settle              kubelet and pass in turns, until nothing is planned
//	user-delete pods, label pod k=v, fail pod, finalize pod, clock duration
//	pods, status        shows what there is
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/scripts", func(t *testing.T, path string) {
		w := newWorld(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w.t = t
			var out strings.Builder
			w.command(d, &out)
			return out.String()
		})
	})
}

func (w *world) command(d *datadriven.TestData, out *strings.Builder) {
	switch d.Cmd {
	case "spec":
		for _, arg := range d.CmdArgs {
			w.spec(arg.Key, strings.Join(arg.Vals, ","))
		}
		w.set.Generation++
	case "features":
		for _, arg := range d.CmdArgs {
			w.feature(arg.Key)
		}
	case "pass":
		n := 1
		if len(d.CmdArgs) > 0 {
			n, _ = strconv.Atoi(d.CmdArgs[0].Key)
		}
		for range n {
			w.pass(out)
		}
	case "kubelet":
		for _, name := range w.named(d.CmdArgs) {
			w.kubelet(name)
		}
	case "settle":
		w.settle(out)
	case "clock":
		passed, err := time.ParseDuration(d.CmdArgs[0].Key)
		if err != nil {
			d.Fatalf(w.t, "%v", err)
		}
		w.now = w.now.Add(passed)
	case "pods":
		w.showPods(out)
	case "status":
		w.showStatus(out)
	default:
		w.podCommand(d)
	}
}

func (w *world) podCommand(d *datadriven.TestData) {
	name := w.name(d.CmdArgs[0].Key)
	switch d.Cmd {
	case "user-delete":
		w.remove(name)
	case "fail":
		w.edit(name, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
	case "label":
		w.edit(name, func(p *corev1.Pod) {
			for _, arg := range d.CmdArgs[1:] {
				if len(arg.Vals) == 0 {
					delete(p.Labels, arg.Key)
				} else {
					p.Labels[arg.Key] = arg.Vals[0]
				}
			}
		})
	case "finalize":
		w.edit(name, func(p *corev1.Pod) { p.Finalizers = nil })
		w.remove(name)
	default:
		d.Fatalf(w.t, "unknown command %s", d.Cmd)
	}
}

func (w *world) named(args []datadriven.CmdArg) (names []string) {
	for _, arg := range args {
		names = append(names, w.name(arg.Key))
	}
	if len(args) == 0 {
		for _, pod := range w.pods {
			names = append(names, pod.Name)
		}
	}
	return names
}

func (w *world) feature(name string) {
	switch name {
	case "PartitionRollback":
		w.features.PartitionRollback = true
	case "ExcludePreparingDelete":
		w.features.ExcludePreparingDelete = true
	case "ShortHash":
		w.features.ShortHash = true
	default:
		w.t.Fatalf("unknown feature %s", name)
	}
}

func (w *world) spec(key, value string) {
	spec := &w.set.Spec
	quantity := intstr.Parse(value)
	switch key {
	case "replicas":
		n := int32(quantity.IntVal)
		spec.Replicas = &n
	case "partition":
		spec.UpdateStrategy.Partition = &quantity
	case "maxUnavailable":
		spec.UpdateStrategy.MaxUnavailable = &quantity
	case "maxSurge":
		spec.UpdateStrategy.MaxSurge = &quantity
	case "scaleMaxUnavailable":
		spec.ScaleStrategy.MaxUnavailable = &quantity
	case "type":
		spec.UpdateStrategy.Type = v1alpha1.CloneSetUpdateStrategyType(value)
	case "paused":
		spec.UpdateStrategy.Paused = value == "true"
	case "image":
		spec.Template.Spec.Containers[0].Image = value
	case "env":
		spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "X", Value: value}}
	case "minReadySeconds":
		spec.MinReadySeconds = int32(quantity.IntVal)
	case "delete":
		spec.ScaleStrategy.PodsToDelete = nil
		for _, alias := range strings.Split(value, ",") {
			spec.ScaleStrategy.PodsToDelete = append(spec.ScaleStrategy.PodsToDelete, w.name(alias))
		}
	case "claims":
		spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: value}}}
	case "disablePVCReuse":
		spec.ScaleStrategy.DisablePVCReuse = value == "true"
	case "historyLimit":
		n := int32(quantity.IntVal)
		spec.RevisionHistoryLimit = &n
	case "preDelete", "inPlaceUpdate", "preNormal":
		w.hook(key, value)
	default:
		w.t.Fatalf("unknown field %s", key)
	}
}

// hook sets a hook that is held by the label value=true; no value removes it.
func (w *world) hook(name, label string) {
	if w.set.Spec.Lifecycle == nil {
		w.set.Spec.Lifecycle = &lifecyclev1alpha1.Lifecycle{}
	}
	var hook *lifecyclev1alpha1.LifecycleHook
	if label != "" {
		hook = &lifecyclev1alpha1.LifecycleHook{LabelsHandler: map[string]string{label: "true"}}
	}
	switch name {
	case "preDelete":
		w.set.Spec.Lifecycle.PreDelete = hook
	case "inPlaceUpdate":
		w.set.Spec.Lifecycle.InPlaceUpdate = hook
	case "preNormal":
		w.set.Spec.Lifecycle.PreNormal = hook
	}
}

// settle lets kubelet and controller act in turns until neither has anything to do.
func (w *world) settle(out *strings.Builder) {
	for range 100 {
		for _, pod := range w.pods {
			w.kubelet(pod.Name)
		}
		if !w.pass(out) {
			return
		}
	}
	fmt.Fprintln(out, "does not settle")
}

// pass plans once, shows the plan and carries it out. It returns false when
// nothing was to be done.
func (w *world) pass(out *strings.Builder) bool {
	plan := NewPlan(w.snapshot())
	var b strings.Builder
	w.show(plan, &b)
	w.carryOut(plan)
	if b.Len() > 0 {
		fmt.Fprintf(out, "pass\n%s", b.String())
	}
	return plan.Revisions.Create != nil || plan.Revisions.Raise != nil || plan.Status != nil || plan.PrunePodsToDelete ||
		len(plan.Create)+len(plan.Delete)+len(plan.Patch)+len(plan.DeleteClaims)+len(plan.HandOver)+len(plan.Revisions.Delete) > 0
}

func (w *world) show(plan *Plan, out *strings.Builder) {
	if r := plan.Revisions.Create; r != nil {
		fmt.Fprintf(out, "  create revision %s (%d)\n", r.Name, r.Revision)
	}
	if r := plan.Revisions.Raise; r != nil {
		fmt.Fprintf(out, "  raise revision %s to %d\n", r.Name, plan.Revisions.RaiseTo)
	}
	byRevision := map[string]int{}
	var order []string
	for _, c := range plan.Create {
		name := c.Pod.Labels[revisionLabel]
		if len(c.Claims) > 0 {
			name += " with claims"
		}
		if byRevision[name]++; byRevision[name] == 1 {
			order = append(order, name)
		}
	}
	for _, name := range order {
		fmt.Fprintf(out, "  create %d at %s\n", byRevision[name], name)
	}
	for _, d := range plan.Delete {
		why := ""
		if d.ForUpdate {
			why = " to recreate it"
		}
		fmt.Fprintf(out, "  delete %s%s%s\n", w.aliasOf(d.Pod.Name), why, claimNote(len(d.Claims)))
	}
	w.showPatches(plan, out)
	for _, claim := range plan.DeleteClaims {
		fmt.Fprintf(out, "  delete claim %s\n", w.unalias(claim.Name))
	}
	for _, h := range plan.HandOver {
		fmt.Fprintf(out, "  hand claim over to %s\n", w.aliasOf(h.Pod.Name))
	}
	for _, r := range plan.Revisions.Delete {
		fmt.Fprintf(out, "  delete revision %s\n", r.Name)
	}
	w.showWaits(plan.Waiting, out)
	for _, problem := range plan.Problems {
		fmt.Fprintf(out, "  %s: %s\n", problem.Condition, w.unalias(problem.Err.Error()))
	}
}

func claimNote(n int) string {
	if n == 0 {
		return ""
	}
	return " and its claims"
}

func (w *world) showPatches(plan *Plan, out *strings.Builder) {
	byKind := map[rollout.PatchKind][]*corev1.Pod{}
	for _, p := range plan.Patch {
		byKind[p.Kind] = append(byKind[p.Kind], p.Pod)
	}
	for _, kind := range []rollout.PatchKind{rollout.PatchKeep, rollout.PatchRelease, rollout.PatchRefresh, rollout.PatchPrepare, rollout.PatchUpdateInPlace} {
		if pods := byKind[kind]; len(pods) > 0 {
			fmt.Fprintf(out, "  %s %s\n", kind, w.aliases(pods))
		}
	}
}

func (w *world) showWaits(waits []rollout.Wait, out *strings.Builder) {
	byReason := map[string][]*corev1.Pod{}
	var order []string
	for _, wait := range waits {
		text := w.unalias(wait.Reason.String())
		if _, seen := byReason[text]; !seen {
			order = append(order, text)
			byReason[text] = nil
		}
		if wait.Pod != nil {
			byReason[text] = append(byReason[text], wait.Pod)
		}
	}
	for _, text := range order {
		fmt.Fprintf(out, "  wait %s: %s\n", w.aliases(byReason[text]), text)
	}
}

func (w *world) showPods(out *strings.Builder) {
	for _, pod := range w.pods {
		image, restarts := pod.Spec.Containers[0].Image, int32(0)
		if len(pod.Status.ContainerStatuses) > 0 {
			restarts = pod.Status.ContainerStatuses[0].RestartCount
		}
		what := "unavailable"
		switch {
		case !active(pod):
			what = "gone"
		case lifecycle.Available(pod, w.set.Spec.MinReadySeconds, w.now):
			what = "available"
		}
		fmt.Fprintf(out, "%s %s %s restarts=%d %s %s\n", w.aliasOf(pod.Name),
			pod.Labels[revisionLabel], image, restarts, lifecycle.StateOf(pod), what)
	}
}

func (w *world) showStatus(out *strings.Builder) {
	s := w.set.Status
	fmt.Fprintf(out, "replicas=%d ready=%d available=%d updated=%d updatedReady=%d expectedUpdated=%d current=%s update=%s\n",
		s.Replicas, s.ReadyReplicas, s.AvailableReplicas, s.UpdatedReplicas, s.UpdatedReadyReplicas, s.ExpectedUpdatedReplicas,
		s.CurrentRevision, s.UpdateRevision)
	for _, c := range s.Conditions {
		fmt.Fprintf(out, "%s=%s: %s\n", c.Type, c.Status, w.unalias(c.Message))
	}
}
