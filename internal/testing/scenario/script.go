// SPDX-License-Identifier: Apache-2.0

package scenario

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
)

// Player plays the commands of a script that are for the kind of the workload.
type Player interface {
	// Spec changes fields of the spec, each given as key=value, in one write.
	Spec(changes ...string)
	// Feature switches a feature on.
	Feature(name string)
	// Command runs a command of the kind's own, and returns false if
	// it has none of that name.
	Command(d *datadriven.TestData, out *strings.Builder) bool
	// Reconcile plans once, shows the plan and applies it. It returns false when
	// nothing was to be done.
	Reconcile(out *strings.Builder) bool
	// Status shows the status.
	Status(out *strings.Builder)
	// MinReadySeconds is the time in seconds after which a ready pod is available.
	MinReadySeconds() int32
}

// RunScripts plays the rollouts in a folder, each in a cluster of its own, and
// compares every plan. To accept a change of behaviour, run the test with
// -rewrite and read the difference.
//
//	new                 goes on in a new cluster
//	spec key=value…     changes the workload
//	features key…       switches features on
//	reconcile [n]       plans and applies the plan, n times
//	kubelet [pods]      starts, restarts and ends pods: all but the frozen and the slow ones, or the named
//	collect             collects garbage
//	settle              kubelet, collect and reconcile in turns, until nothing is planned
//	rounds n            the same n times, whatever is planned
//	step [n]            the same, with a minute before each plan
//	clock duration      lets time pass
//	quota n             lets no more pods be created than there may be; 0 is no limit
//	refuse [what…]      has the API server refuse to create or to delete pods, and accept all else
//	delete-owner [foreground], delete-claim claim
//	pods, claims, status
//	edit pod word…, edit-claim claim word…, edit-revision revision word…
//	                    changes objects by words of the kind; "edit all" changes all pods
//
// Of one pod:
//
//	user-delete pod     deletes it behind the controller's back
//	gone pod            lets it vanish, whatever holds it
//	fail pod, succeed pod
//	unready pod, ready pod
//	freeze pod
//	label pod key=value key…
//	annotate pod key=value key…
//	hold pod finalizer
//	update-sidecar pod container image
func RunScripts[P Player](t *testing.T, folder string, start func(TB) (*Cluster, P)) {
	datadriven.Walk(t, folder, func(t *testing.T, path string) {
		w, workload := start(t)
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "new" {
				w, workload = start(t)
				return ""
			}
			w.T = t
			var out strings.Builder
			w.command(d, workload, &out)
			return out.String()
		})
	})
}

func (w *Cluster) command(d *datadriven.TestData, workload Player, out *strings.Builder) {
	switch d.Cmd {
	case "spec":
		var changes []string
		for _, arg := range d.CmdArgs {
			changes = append(changes, arg.Key+"="+strings.Join(arg.Vals, ","))
		}
		workload.Spec(changes...)
	case "features":
		for _, arg := range d.CmdArgs {
			workload.Feature(arg.Key)
		}
	case "reconcile":
		for range w.count(d) {
			workload.Reconcile(out)
		}
	case "kubelet":
		w.kubelets(d.CmdArgs)
	case "collect":
		w.collect()
	case "settle":
		w.Settle(workload.Reconcile, out)
	case "rounds":
		for range w.count(d) {
			w.Kubelets()
			w.collect()
			workload.Reconcile(out)
		}
	case "step":
		for range w.count(d) {
			w.Kubelets()
			w.collect()
			w.Now = w.Now.Add(time.Minute)
			workload.Reconcile(out)
		}
	case "clock":
		passed, err := time.ParseDuration(w.only(d))
		if err != nil {
			w.T.Fatalf("%s: %v", d.Pos, err)
		}
		w.Now = w.Now.Add(passed)
	case "quota":
		w.Quota = w.count(d)
	case "refuse":
		w.Refused = map[string]bool{}
		for _, arg := range d.CmdArgs {
			w.Refused[arg.Key] = true
		}
	case "delete-owner":
		w.deleteOwner(len(d.CmdArgs) > 0 && w.only(d) == "foreground")
	case "delete-claim":
		w.removeClaim(w.claimName(w.only(d)))
	case "edit", "edit-claim", "edit-revision":
		w.edit(d)
	case "pods":
		w.ShowPods(workload.MinReadySeconds(), out)
	case "claims":
		w.showClaims(out)
	case "status":
		workload.Status(out)
	default:
		if !workload.Command(d, out) {
			w.podCommand(d)
		}
	}
}

// only returns the one argument of a command.
func (w *Cluster) only(d *datadriven.TestData) string {
	if len(d.CmdArgs) != 1 {
		w.T.Fatalf("%s: %s has %d arguments, want 1", d.Pos, d.Cmd, len(d.CmdArgs))
	}
	return d.CmdArgs[0].Key
}

func (w *Cluster) count(d *datadriven.TestData) int {
	if len(d.CmdArgs) == 0 {
		return 1
	}
	n, err := strconv.Atoi(w.only(d))
	if err != nil {
		w.T.Fatalf("%s: %v", d.Pos, err)
	}
	return n
}

func (w *Cluster) kubelets(pods []datadriven.CmdArg) {
	for _, arg := range pods {
		w.Kubelet(w.Name(arg.Key))
	}
	if len(pods) == 0 {
		w.Kubelets()
	}
}

func (w *Cluster) podCommand(d *datadriven.TestData) {
	if len(d.CmdArgs) == 0 {
		w.T.Fatalf("%s: unknown command %s, or no pod is named", d.Pos, d.Cmd)
	}
	name := w.Name(d.CmdArgs[0].Key)
	switch d.Cmd {
	case "user-delete":
		w.remove(name)
	case "gone":
		w.Gone(name)
	case "fail":
		w.Edit(name, func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed })
	case "succeed":
		w.Edit(name, func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	case "unready", "ready":
		w.Break(name, d.Cmd == "unready")
	case "freeze":
		w.Freeze(name, true)
	case "label":
		w.Edit(name, func(p *corev1.Pod) { set(p.Labels, d.CmdArgs[1:]) })
	case "annotate":
		w.Edit(name, func(p *corev1.Pod) { set(p.Annotations, d.CmdArgs[1:]) })
	case "update-sidecar":
		w.Edit(name, func(p *corev1.Pod) { UpdateSidecar(w.T, p, d.CmdArgs[1].Key, d.CmdArgs[2].Key, w.Now) })
	case "hold":
		w.Edit(name, func(p *corev1.Pod) { p.Finalizers = append(p.Finalizers, d.CmdArgs[1].Key) })
	default:
		w.T.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
	}
}

func set(m map[string]string, args []datadriven.CmdArg) {
	for _, arg := range args {
		if len(arg.Vals) == 0 {
			delete(m, arg.Key)
		} else {
			m[arg.Key] = arg.Vals[0]
		}
	}
}

// Settle lets kubelets, garbage collector and controller act in turns until
// none of them has anything to do.
func (w *Cluster) Settle(reconcile func(*strings.Builder) bool, out *strings.Builder) {
	for range 100 {
		w.Kubelets()
		collected := w.collect()
		if planned := reconcile(out); !planned && !collected {
			return
		}
	}
	fmt.Fprintln(out, "does not settle")
}
