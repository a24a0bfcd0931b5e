// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestPlans plans for states of the world, which the files in testdata/plans describe, a line each: see planSteps.
func TestPlans(t *testing.T) {
	datadriven.Walk(t, "testdata/plans", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			w := planSteps{t: t, Snapshot: place(t, newJob(), "")}
			for line := range strings.Lines(d.Input) {
				w.step(strings.TrimSpace(line))
			}
			return w.out.String()
		})
	})
}

// planSteps plays steps for a job, at noon:
//
//	job fields                 changes the job; the fields are YAML
//	again                      the job was deleted, and created again
//	pods p1 p2:running         are all pods from then on, as place says
//	idle 2m                    the first pod has made no progress for so long
//	filled pod n               a pod has n ephemeral containers of others
//	owned pod names…           it has such containers, injected by this job; of another job with name=uid, and of none with name=
//	refused pod after n text   the injection was refused n times, and is tried again after that time
//	until time, forgotten, tried
//	                           nothing is tried before that time; nothing is known of refusals; something was tried since
//	reported time              the status was written at that time
//	at time                    it is so long after noon
//	plan, apply, names         show the plan, and the names of the containers; apply writes the status
//	containers                 shows what is injected, and the patch of the first pod
//	rollout                    shows how far RolloutStatus says that the job is
//	refuses names…, serves name
//	                           the API server answers injections at noon, and what is known of refusals then is shown
//	owners                     shows which containers are the job's
//	conditions, results        show those of the status that would be written
func (w *planSteps) step(line string) {
	w.t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	words := append(strings.Fields(rest), "", "")
	plan := w.plan()
	switch verb {
	case "job":
		w.Job = w.Job.DeepCopy()
		w.must(yaml.UnmarshalStrict([]byte(rest), w.Job))
	case "again":
		again := newJob()
		again.UID = "again"
		w.Job = again
	case "pods":
		w.Pods = place(w.t, w.Job, rest).Pods
	case "idle":
		w.Idle = map[types.UID]time.Time{"p1": w.time("-" + rest)}
	case "filled":
		for i := range patches.Number(w.t, words[1]) {
			w.inject(words[0], container(fmt.Sprint("other-", i)))
		}
	case "owned":
		for _, word := range strings.Fields(rest)[1:] {
			name, uid, other := strings.Cut(word, "=")
			if !other {
				uid = string(w.Job.UID)
			}
			c := container(name)
			if c.Env = []corev1.EnvVar{{Name: "A", Value: uid}}; !other || uid != "" {
				c.Env = append(c.Env, corev1.EnvVar{Name: v1alpha1.EphemeralJobEnv, Value: uid})
			}
			w.inject(words[0], c)
		}
	case "refused":
		if w.Refusals.Tried = true; w.Refusals.Pods == nil {
			w.Refusals.Pods = map[types.UID]Refusal{}
		}
		text := strings.Join(strings.Fields(rest)[3:], " ")
		w.Refusals.Pods[types.UID(words[0])] = Refusal{Message: text, Until: w.time(words[1]), Times: patches.Number(w.t, words[2])}
	case "until":
		w.Refusals.Until = w.time(rest)
	case "forgotten":
		w.Refusals = Refusals{}
	case "tried":
		w.Refusals.Tried = true
	case "reported":
		w.Reported = w.time(rest)
	case "at":
		w.Now = w.time(rest)
	case "plan", "apply":
		fmt.Fprintf(&w.out, "plan: %s\n", show(plan))
		for _, wait := range plan.Waiting {
			fmt.Fprintf(&w.out, "  wait %s\n", wait.String())
		}
		for _, skipped := range plan.Skipped {
			fmt.Fprintf(&w.out, "  left out %s\n", skipped.String())
		}
		for _, p := range plan.Problems {
			fmt.Fprintf(&w.out, "  problem: %v\n", p.Err)
		}
		if verb == "apply" && plan.Status != nil {
			w.Job.Status = *plan.Status
		}
	case "containers":
		patch, err := patchOf(w.Pods[0], plan.Containers)
		w.must(err)
		containers, err := yaml.Marshal(plan.Containers)
		w.must(err)
		fmt.Fprintf(&w.out, "%s%s\n", containers, patch)
	case "rollout":
		fmt.Fprintf(&w.out, "%+v\n", RolloutStatus(w.Job))
	case "refuses", "serves":
		w.answer(strings.Fields(rest), verb == "serves")
	case "names":
		for _, name := range namesFor(w.Job) {
			fmt.Fprintf(&w.out, "  container %s\n", name)
		}
	case "owners":
		for _, pod := range w.Pods {
			fmt.Fprintf(&w.out, "%s: %v\n", pod.Name, ownContainers(w.Job, pod))
		}
	case "conditions":
		status := &w.Job.Status
		if plan.Status != nil {
			status = plan.Status
		}
		for i, c := range conditions(status) {
			at := status.Conditions[i]
			fmt.Fprintf(&w.out, "  %s, since %s\n", c, at.LastTransitionTime.Sub(noon))
			if at.LastProbeTime != at.LastTransitionTime {
				fmt.Fprintf(&w.out, "    looked at after %s\n", at.LastProbeTime.Sub(noon))
			}
		}
	case "results":
		for _, r := range plan.Status.PodResults {
			code := "none"
			if r.ExitCode != nil {
				code = fmt.Sprint(*r.ExitCode)
			}
			fmt.Fprintf(&w.out, "  %s/%s code %s %s: %s\n", r.Pod, r.Container, code, r.Reason, r.Message)
		}
	default:
		w.t.Fatalf("no such step: %s", line)
	}
}

// answer is what the API server says about some pods at noon.
func (w *planSteps) answer(pods []string, serves bool) {
	refused, served := map[types.UID]string{}, []types.UID{}
	for _, pod := range pods {
		if serves {
			served = append(served, types.UID(pod))
		} else {
			refused[types.UID(pod)] = "no"
		}
	}
	r := w.Refusals.after(refused, served, noon)
	w.Refusals = r
	fmt.Fprintf(&w.out, "%d times in a row, waits %s, tried %t, then ends after %d refusals\n", r.InARow, max(r.Until.Sub(noon), 0), r.Tried, r.patience())
	for _, uid := range slices.Sorted(maps.Keys(r.Pods)) {
		fmt.Fprintf(&w.out, "  %s: %d times, waits %s\n", uid, r.Pods[uid].Times, r.Pods[uid].Until.Sub(noon))
	}
}

// planSteps is a snapshot that steps change, and what they show.
type planSteps struct {
	*Snapshot
	t   *testing.T
	out strings.Builder
}

// plan is what is done now. It is told twice with the same words, and changes no pod.
func (w *planSteps) plan() *Plan {
	w.t.Helper()
	var before []*corev1.Pod
	for _, pod := range w.Pods {
		before = append(before, pod.DeepCopy())
	}
	plan := NewPlan(w.Snapshot)
	if diff := cmp.Diff(describe(plan), describe(NewPlan(w.Snapshot))); diff != "" {
		w.t.Errorf("the same snapshot gives another plan:\n%s", diff)
	}
	if diff := cmp.Diff(before, w.Pods); diff != "" {
		w.t.Errorf("the plan has changed pods:\n%s", diff)
	}
	return plan
}

func (w *planSteps) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// time is that of a duration since noon.
func (w *planSteps) time(text string) time.Time { return noon.Add(patches.Duration(w.t, text)) }

// inject puts an ephemeral container into a pod.
func (w *planSteps) inject(name string, c corev1.EphemeralContainer) {
	for _, pod := range w.Pods {
		if pod.Name == name {
			pod.Spec.EphemeralContainers = append(pod.Spec.EphemeralContainers, c)
		}
	}
}
