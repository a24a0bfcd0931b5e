// SPDX-License-Identifier: Apache-2.0

package spread

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/distribution/v1alpha1"
)

// TestPlans shows what is computed for the WorkloadSpread web of a Deployment, and where new pods go. To accept a change of behaviour, run
// the test with -rewrite and read the difference.
//
//	spec              has the WorkloadSpread have the spec that follows
//	compute           shows the status, what pods cost, and which go
//	uncosted          shows the same without what pods cost
//	moves             shows only how many go, and stay
//	assign            shows the subset of a new pod of the ReplicaSet web-1, or with pod=2 of web-2
//
// Arguments are wants=7 (nothing is known of the workload without it), revision=2, kind=Job or StatefulSet, mayfail=3, closed=(a, 100s) (it
// takes no pods since then), open=(a, 1h), reserved=(a, 31s) (since then), moved=(4s, 3s, 10*5s), and pods=(3*a, x@b). A pod has options:
// r2 (of the ReplicaSet web-2), cost=300, ended, failed, deleting, pending=2s and stuck=31s (so long without a node, and told so), new, restarted,
// on-node, job, volcano (of a Job of others), tracked, and says=TEXT (of its annotation).
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		var spec string
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "spec" {
				spec = d.Input
				return ""
			}
			l := &line{t: t, kind: Deployments, ws: spreadOf(t, spec), of: "1"}
			for _, arg := range d.CmdArgs {
				l.argument(arg.Key, arg.Vals)
			}
			return strings.Join(l.show(d.Cmd), "\n") + "\n"
		})
	})
}

// line is what a line of a script says.
type line struct {
	t        *testing.T
	kind     schema.GroupKind
	ws       *v1alpha1.WorkloadSpread
	workload *Workload
	mayFail  *int32
	revision string
	of       string // the ReplicaSet of a new pod
	pods     []*corev1.Pod
	reserved []Reservation
	moved    []time.Time
}

func (l *line) argument(key string, values []string) {
	first := strings.Join(values[:min(len(values), 1)], "")
	switch key {
	case "wants":
		l.workload = deployment(int32(l.number(first)))
	case "revision":
		l.revision = first
	case "kind":
		l.kind = map[string]schema.GroupKind{"Job": Jobs, "StatefulSet": StatefulSets, "JobOfOthers": {Group: "batch.example.com", Kind: "Jobs"}}[first]
	case "mayfail":
		l.mayFail = new(int32(l.number(first)))
	case "pod":
		l.of = first
	case "closed":
		before(l.ws, first, corev1.ConditionFalse, l.duration(values[1]))
	case "open":
		before(l.ws, first, corev1.ConditionTrue, l.duration(values[1]))
	case "reserved":
		l.reserved = append(l.reserved, Reservation{Key: "k-" + first, Subset: first, Owner: "web-1", Revision: "1", Expires: now.Add(ReservedFor - l.duration(values[1]))})
	case "moved":
		for _, value := range values {
			n, age := l.times(value)
			l.moved = append(l.moved, slices.Repeat([]time.Time{now.Add(-l.duration(age))}, n)...)
		}
	case "pods":
		for _, value := range values {
			l.read(value)
		}
	default:
		l.t.Fatalf("no argument %s", key)
	}
}

func (l *line) number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		l.t.Fatal(err)
	}
	return n
}

func (l *line) duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		l.t.Fatal(err)
	}
	return d
}

// times reads how often something is.
func (l *line) times(text string) (int, string) {
	n, what, is := strings.Cut(text, "*")
	if !is {
		return 1, text
	}
	return l.number(n), what
}

// read reads pods: so many of a subset, or one of a name.
func (l *line) read(text string) {
	words := strings.Split(text, ":")
	var options []option
	for _, word := range words[1:] {
		options = append(options, l.option(word))
	}
	if name, subset, is := strings.Cut(words[0], "@"); is {
		l.pods = append(l.pods, newPod(name, subset, options...))
		return
	}
	n, subset := l.times(words[0])
	l.pods = append(l.pods, some(n, subset, options...)...)
}

func (l *line) option(word string) option {
	switch key, value, _ := strings.Cut(word, "="); key {
	case "r0", "r1", "r2":
		return revision(key[1:])
	case "cost":
		return cost(value)
	case "ended":
		return ended
	case "failed":
		return func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }
	case "deleting":
		return deleting
	case "pending":
		return pending(l.duration(value))
	case "stuck":
		return stuck(l.duration(value))
	case "new":
		return func(pod *corev1.Pod) { pod.CreationTimestamp = metav1.NewTime(now) }
	case "restarted":
		return func(pod *corev1.Pod) { pod.Status.ContainerStatuses = []corev1.ContainerStatus{{RestartCount: 3}} }
	case "on-node":
		return func(pod *corev1.Pod) { pod.Spec.NodeName = "n" }
	case "job":
		return of("batch/v1", "Job")
	case "volcano":
		return of("batch.volcano.sh/v1alpha1", "Job")
	case "tracked":
		return func(pod *corev1.Pod) { pod.Finalizers = []string{batchv1.JobTrackingFinalizer} }
	case "says":
		return func(pod *corev1.Pod) {
			pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation] = strings.NewReplacer(";", ",", "->", ":").Replace(value)
		}
	}
	l.t.Fatalf("no option %s", word)
	return nil
}

func (l *line) show(command string) []string {
	if l.workload != nil {
		l.workload.GroupKind, l.workload.Revision, l.workload.MayFail = l.kind, l.revision, l.mayFail
	}
	if command == "assign" {
		got := assign(Input{Pod: unnamed(revision(l.of)), Spread: l.ws, Workload: l.workload, Pods: l.pods, Reservations: l.reserved, Now: now})
		return []string{fmt.Sprintf("%q: %s", got.Subset, got.Why)}
	}
	got := Compute(State{Spread: l.ws, Workload: l.workload, Pods: l.pods, Moved: l.moved, Now: now})
	switch command {
	case "moves":
		return []string{fmt.Sprintf("%d of %d may go, %d stay, again after %v", got.MayDelete, len(got.Deletions), len(got.Staying), got.RequeueAfter)}
	case "compute":
		return show(got)
	}
	lines := unpriced(show(got))
	for _, stay := range got.Staying {
		lines = append(lines, stay.Pod.Name+" of "+stay.Subset+" stays")
	}
	return lines
}
