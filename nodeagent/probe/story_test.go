// SPDX-License-Identifier: Apache-2.0

package probe

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// A container that is idle, busy, idle again, restarted, and gone. (PPM-4.1 to PPM-4.9)
func TestStory(t *testing.T) {
	play(t, func(n *node) {
		n.exits("main-1", "idle", 3)
		n.run("web-0", "main")
		n.start()
		n.sleep(500 * time.Millisecond)
		n.expect("PPM-4.3: it is too young", "web-0 idle Unknown")
		n.sleep(25 * time.Second)
		n.expect("it has failed", "web-0 idle Failed (secret on stderr)")
		n.exits("main-1", "idle", 0)
		n.sleep(11 * time.Second)
		n.expect("it has succeeded", "web-0 idle Succeeded (secret on stdout)")
		n.exits("main-1", "idle", -1)
		n.sleep(15 * time.Second)
		n.expect("it does not end", "web-0 idle Failed (the command did not end within 1s)")
		n.runtime.End("main-1", 1)
		n.exits("main-2", "idle", -2)
		n.sleep(11 * time.Second)
		n.expect("PPM-4.3: it is not running", "web-0 idle Failed (Container(main) is Non-running)")
		n.run("web-0", "main")
		n.sleep(25 * time.Second)
		n.expect("PPM-4.5: another container, and the runtime refuses", "web-0 idle Unknown")
		n.exits("main-2", "idle", 0)
		n.sleep(11 * time.Second)
		n.expect("the other container", "web-0 idle Succeeded (secret on stdout)")
		n.want("PPM-4.9: events", []string{
			"Normal KruiseProbeFailed: Probe idle has failed: the command ended with exit code 3",
			"Normal KruiseProbeSucceeded: Probe idle has succeeded",
			"Normal KruiseProbeFailed: Probe idle has failed: the command did not end within 1s",
			"Normal KruiseProbeSucceeded: Probe idle has succeeded",
		}, n.events.All())
		n.want("one write a transition, and one for other words", []string{"7 patch nodepodprobes/status"}, n.sent())

		n.edit(nothing)
		n.sleep(time.Second)
		n.expect("nothing is asked for")
		n.execs()
		n.sleep(time.Minute)
		if got := n.execs(); got != 0 {
			n.Errorf("%d commands for a probe that is gone", got)
		}
	}, wants("web-0", "idle"))
}

// PPM-4.8: while nothing changes, the API server has no request; the probes go on.
func TestNothingChanges(t *testing.T) {
	play(t, func(n *node) {
		n.run("web-0", "main")
		n.run("web-1", "main")
		n.start()
		n.sleep(time.Minute)
		n.sent()
		n.execs()
		n.sleep(time.Hour)
		n.want("requests in an hour", nil, n.sent())
		if got := n.execs(); got < 3*358 || got > 3*361 {
			n.Errorf("%d commands in an hour of three probes every 10 s", got)
		}
	}, wants("web-0", "idle"), wants("web-0", "busy"), wants("web-1", "idle"))
}

// PPM-4.7: what a command prints is the message of its state, and in no event. What the runtime says is nowhere to be seen.
func TestOutput(t *testing.T) {
	play(t, func(n *node) {
		n.exits("main-1", "a", 1)
		n.exits("main-1", "b", -1)
		n.exits("main-1", "c", -2)
		n.run("web-0", "main")
		n.start()
		n.sleep(time.Minute)
		n.expect("states", "web-0 a Failed (secret on stderr)", "web-0 b Failed (the command did not end within 1s)", "web-0 c Unknown", "web-0 d Succeeded (secret on stdout)")
		if seen := strings.Join(n.events.All(), "\n"); strings.Contains(seen, "secret") {
			n.Errorf("it is in an event:\n%s", seen)
		}
	}, wants("web-0", "a"), wants("web-0", "b"), wants("web-0", "c"), wants("web-0", "d"))
}

// PPM-4.13: a command that prints something else each time, once a second, costs a request in ten seconds.
func TestOutputThatChanges(t *testing.T) {
	play(t, func(n *node) {
		n.run("web-0", "main")
		n.counts = true
		n.start()
		n.sleep(time.Minute)
		n.sent()
		n.sleep(10 * time.Minute)
		if writes := n.api.Count(n.user())["patch nodepodprobes/status"]; writes < 50 || writes > 60 {
			n.Errorf("%d requests in ten minutes, want one in ten seconds", writes)
		}
		if got := n.nodePodProbe().Status.PodProbeStatuses[0].ProbeStates[0]; time.Since(got.LastProbeTime.Time) > 13*time.Second || time.Since(got.LastTransitionTime.Time) < 10*time.Minute {
			n.Errorf("the last words: %+v", got)
		}
	}, wants("web-0", "idle", every(1)), wants("web-0", "busy", every(1)))
}

// PPM-4.7: what a command prints that is hidden, and what the runtime says, is nowhere to be seen.
func TestNoOutput(t *testing.T) {
	hide := func(of *v1alpha1.NodePodProbe) {
		for i := range of.Spec.PodProbes[0].Probes {
			of.Spec.PodProbes[0].Probes[i].HideOutput = true
		}
	}
	play(t, func(n *node) {
		n.exits("main-1", "a", 1)
		n.exits("main-1", "b", -1)
		n.exits("main-1", "c", -2)
		n.run("web-0", "main")
		n.start()
		n.sleep(time.Minute)
		n.expect("states", "web-0 a Failed (the command ended with exit code 1)", "web-0 b Failed (the command did not end within 1s)", "web-0 c Unknown", "web-0 d Succeeded")
		if seen := strings.Join(append(n.events.All(), shownStatus(&n.nodePodProbe().Status)...), "\n"); strings.Contains(seen, "secret") {
			n.Errorf("it is seen:\n%s", seen)
		}
		n.edit(func(of *v1alpha1.NodePodProbe) { of.Spec.PodProbes[0].Probes[0].HideOutput = false })
		n.sleep(20 * time.Second)
		n.edit(hide)
		n.sleep(time.Second)
		n.expect("it was shown, and is hidden at once", "web-0 a Failed (the command ended with exit code 1)", "web-0 b Failed (the command did not end within 1s)", "web-0 c Unknown", "web-0 d Succeeded")
	}, wants("web-0", "a"), wants("web-0", "b"), wants("web-0", "c"), wants("web-0", "d"), hide)
}

// PPM-4.6: several probes of one container count each for itself.
func TestSeveralProbesOfOneContainer(t *testing.T) {
	twice := func(p *corev1.Probe) { p.FailureThreshold, p.SuccessThreshold = 2, 2 }
	play(t, func(n *node) {
		n.exits("main-1", "b", 1)
		n.run("web-0", "main")
		n.start()
		n.sleep(35 * time.Second)
		n.expect("states", "web-0 a Succeeded (secret on stdout)", "web-0 b Failed (secret on stderr)")
	}, wants("web-0", "a", twice), wants("web-0", "b", twice))
}

// PPM-4.2: a period that changes counts from the next run.
func TestPeriod(t *testing.T) {
	play(t, func(n *node) {
		n.run("web-0", "main")
		n.start()
		n.sleep(time.Minute)
		n.execs()
		n.sleep(time.Minute)
		if got := n.execs(); got != 6 {
			n.Errorf("%d commands a minute, want 6", got)
		}
		n.edit(func(of *v1alpha1.NodePodProbe) { of.Spec.PodProbes[0].Probes[0].Probe.PeriodSeconds = 2 })
		n.sleep(time.Minute)
		if got := n.execs(); got < 29 || got > 31 {
			n.Errorf("%d commands a minute, want 30", got)
		}
		n.edit(func(of *v1alpha1.NodePodProbe) { of.Spec.PodProbes[0].Probes[0].Probe.PeriodSeconds = 30 })
		n.sleep(time.Minute)
		if got := n.execs(); got != 2 {
			n.Errorf("%d commands a minute, want 2", got)
		}
	}, wants("web-0", "idle"))
}

// PPM-4.3: a container is not probed before it has run for the initial delay, and is then.
func TestInitialDelay(t *testing.T) {
	play(t, func(n *node) {
		n.start()
		n.sleep(2 * time.Minute)
		n.expect("there is no container")
		n.run("web-0", "main")
		n.sleep(30 * time.Second)
		if got := n.execs(); got != 0 {
			n.Errorf("%d commands in a container that is too young", got)
		}
		n.sleep(55*time.Second - 30*time.Second + time.Second)
		n.expect("it is old enough", "web-0 idle Succeeded (secret on stdout)")
	}, wants("web-0", "idle", every(20), func(p *corev1.Probe) { p.InitialDelaySeconds = 55 }))
}

// PPM-4.8: an agent that is started again knows what it has reported, and is asked for nothing new.
func TestRestartOfTheAgent(t *testing.T) {
	play(t, func(n *node) {
		n.exits("main-2", "idle", 1)
		n.run("web-0", "main")
		n.run("web-1", "main")
		n.start()
		n.sleep(time.Minute)
		n.expect("before", "web-0 idle Succeeded (secret on stdout)", "web-1 idle Failed (secret on stderr)")
		n.stop()
		n.sent()
		n.events.Forget()
		n.start()
		n.sleep(time.Minute)
		n.expect("after", "web-0 idle Succeeded (secret on stdout)", "web-1 idle Failed (secret on stderr)")
		n.want("requests", nil, n.sent())
		n.want("events", nil, n.events.All())
	}, wants("web-0", "idle", func(p *corev1.Probe) { p.SuccessThreshold, p.FailureThreshold = 3, 3 }), wants("web-1", "idle"))
}

// PPM-4.5: a runtime that is down changes nothing, and neither does an API server that refuses.
func TestFaults(t *testing.T) {
	play(t, func(n *node) {
		n.run("web-0", "main")
		n.start()
		n.sleep(time.Minute)
		n.sent()
		n.runtime.SetDown(true)
		n.sleep(time.Minute)
		n.expect("the runtime is down", "web-0 idle Succeeded (secret on stdout)")
		n.want("requests", nil, n.sent())
		n.runtime.SetDown(false)
		n.exits("main-1", "idle", 1)
		n.api.FailBefore(func(r fakecluster.Request) error {
			if strings.HasPrefix(r.User, "agent") && r.Verb == "patch" {
				return apierrors.NewInternalError(errors.New("refused"))
			}
			return nil
		})
		n.sleep(30 * time.Second)
		n.api.FailBefore(nil)
		n.expect("the API server refuses", "web-0 idle Succeeded (secret on stdout)")
		if patches := n.api.Count(n.user())["patch nodepodprobes/status"]; patches < 2 || patches > 8 {
			n.Errorf("%d requests in 30 s, want a few: nobody may storm a server that refuses", patches)
		}
		n.sleep(20 * time.Second)
		n.expect("it answers again", "web-0 idle Failed (secret on stderr)")
	}, wants("web-0", "idle"))
}

// PPM-4.1: a container that the kubelet has created for another pod is not probed, whatever the UID.
func TestAnotherPodsContainer(t *testing.T) {
	play(t, func(n *node) {
		n.run("web-0", "main")
		n.start()
		n.sleep(time.Minute)
		n.expect("nothing is known")
		if got := n.execs(); got != 0 {
			n.Errorf("%d commands in a container of another pod", got)
		}
	}, wants("web-0", "idle"), func(of *v1alpha1.NodePodProbe) { of.Spec.PodProbes[0].Name = "other" })
}

// PPM-4.10: a hundred probes that take long do not run all at once, and a handler that changes ends the run of the former.
func TestBounds(t *testing.T) {
	var changes []change
	for i := range 30 {
		changes = append(changes, wants("web-0", strings.Repeat("p", i+1), every(1), func(p *corev1.Probe) { p.TimeoutSeconds = 5 }))
	}
	play(t, func(n *node) {
		id := n.run("web-0", "main")
		for i := range 30 {
			n.exits(id, strings.Repeat("p", i+1), -1)
		}
		n.options.Limits.Concurrency = 3
		n.start()
		n.sleep(20*time.Second + 500*time.Millisecond)
		if got := n.execs(); got < 10 || got > 15 {
			n.Errorf("%d commands of 5 s, three at a time, in 20 s", got)
		}
		n.edit(nothing)
		n.sleep(time.Second)
		if plan, err := n.agent.Snapshot(n.Context(), types.NamespacedName{Name: "node-1"}); err != nil || plan.Running != 0 || len(plan.Probes) != 0 {
			n.Errorf("%+v, error %v", plan, err)
		}
	}, changes...)
}

// A NodePodProbe that goes ends its probes; the next of the node begins them anew.
func TestNodePodProbeGoes(t *testing.T) {
	play(t, func(n *node) {
		n.run("web-0", "main")
		n.start()
		n.sleep(time.Minute)
		made := n.nodePodProbe()
		n.must(n.probes.Delete(n.Context(), "node-1", metav1.DeleteOptions{}))
		n.sleep(time.Second)
		n.execs()
		n.sleep(time.Minute)
		if got := n.execs(); got != 0 {
			n.Errorf("%d commands", got)
		}
		made.ResourceVersion, made.UID, made.Status = "", "", newNodePodProbe().Status
		_, err := n.probes.Create(n.Context(), made, metav1.CreateOptions{})
		n.must(err)
		n.sleep(2 * time.Second)
		n.expect("it is probed again", "web-0 idle Succeeded (secret on stdout)")
	}, wants("web-0", "idle"))
}

// PPM-4.10: commands of others that do not end, of which there is one for every slot and more, keep no probe from being run.
func TestCommandsOfOthersThatDoNotEnd(t *testing.T) {
	changes := []change{}
	for i := range 30 {
		changes = append(changes, wants("evil", fmt.Sprint("hang", i), every(1), func(p *corev1.Probe) { p.TimeoutSeconds = 1 << 30 }))
	}
	changes = append(changes, func(np *v1alpha1.NodePodProbe) { np.Spec.PodProbes[0].Namespace = "evil" }, wants("web-0", "idle", every(1)))
	play(t, func(n *node) {
		for i := range 30 {
			n.exits("main-1", fmt.Sprint("hang", i), -1)
		}
		n.runIn("evil", "evil", "main")
		n.run("web-0", "main")
		n.exits("main-2", "idle", 0)
		n.start()
		n.sleep(30 * time.Second)
		n.exits("main-2", "idle", 1)
		n.sleep(5 * time.Second)
		if got := fmt.Sprint(shownStatus(&n.nodePodProbe().Status)); !strings.Contains(got, "web-0 idle Failed") {
			n.Errorf("five seconds after the container has failed: %s", got)
		}
		const waits = " Unknown (the probe has not been run for 2m0s, 5 of its periods or more: 10 probes are under way, of evil (10))"
		n.sleep(95 * time.Second) // the last ten have not had their first turn
		if got := fmt.Sprint(shownStatus(&n.nodePodProbe().Status)); strings.Count(got, waits) < 5 {
			n.Errorf("PPM-4.12: those that wait for their first turn do not say for whom: %s", got)
		}
		n.sleep(8 * time.Minute)
		n.exits("main-2", "idle", 0)
		n.sleep(5 * time.Second)
		if got := fmt.Sprint(shownStatus(&n.nodePodProbe().Status)); !strings.Contains(got, "web-0 idle Succeeded") || !strings.Contains(got, "hang7 Failed (the command did not end within 1m0s)") {
			n.Errorf("ten minutes later: %s", got)
		} else if !strings.Contains(got, waits) {
			n.Errorf("PPM-4.12: those that wait do not say for whom: %s", got)
		}
	}, changes...)
}
