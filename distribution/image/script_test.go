// SPDX-License-Identifier: Apache-2.0

package image

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/image/nodeimage"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/testing/patches"
)

// TestStories plays what happens to jobs, nodes, pull secrets and pods that pull. Shown is all that there is, after each step that
// changes something. At the end of a story the controllers must have done everything that can be done. To accept a change of
// behaviour, run the test with -rewrite and read the difference.
//
//	begin nodes=2           begins a story in a cluster of its own, with nodes that have NodeImages, and both controllers. Further
//	                        arguments: response=1h (--nodeimage-response-timeout), pull-pods, per-namespace=1, refer (to secrets where
//	                        they are), nodes-only (does not start the controller of jobs), workers=9 (of NodeImages)
//	stop, start [refer]     stops both controllers, and starts them with caches of their own
//	workload KIND           starts the controllers of workloads, which pull images ahead of their updates, and creates the workload web. Its five pods
//	                        are to be updated in an order, by which they and their nodes are called first to fifth
//	kubelets 20s            has the kubelets of pods work for so long
//	manager default team-b  starts a controller of jobs of each namespace, which has no other; "manager default shared" one of which a shared
//	                        informer has only the jobs of the namespace
//	wait 30s                lets time pass
//	job NAME                creates a job for nginx:1 with the spec that follows
//	node NAME [label=x]     adds a node that is ready from now on
//	secret NAME WORD        adds a pull secret
//	create, patch, delete   a kind and a name, and for patch perhaps a subresource. COPY is the copy of the secret s, and POD the only
//	                        pod. UID in what follows is that of the last job, and NOW the time.
//	heartbeat               has all nodes report that they are as they were
//	fill NAME               gives a NodeImage as many images as may be
//	agents PHASE [NODE]     has the agents of nodes report a phase of all tasks that are not over
//	replay FILE             sends the requests of an agent of n0000 that were written down
//	kubelet runs            has the kubelet run the only pod that does not run; otherwise why it does not: a reason and a message
//	fail USER N REQUEST     has the API server refuse requests of a controller (jobs or nodes), N times, or for good with -1. Further arguments:
//	                        with=lost (the answer; otherwise see answers), skip=1 (lets the first ones pass) and slow=1s (what an answer takes)
//	heal                    has it serve them again, and tells whether some have failed
//	hold, release, drop, compact   what the caches see of a resource
//	requests                shows what the controllers have sent since the last time, without their informers, and by what they delete
//	reconciles              tells whether there were any since the last time
func TestStories(t *testing.T) {
	datadriven.Walk(t, "testdata/stories", func(t *testing.T, path string) {
		synctest.Test(t, func(t *testing.T) {
			p := &player{t: t}
			defer p.end()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				t.Helper()
				return p.run(d)
			})
		})
	})
}

// player plays one story after the other.
type player struct {
	t *testing.T
	*cluster
	began      time.Time
	shown      string
	uid        types.UID // of the last job
	reconciled int
	fault      *failing
	order      *strings.Replacer // shows pods and nodes by their place in the order of an update
}

// end ends a story.
func (p *player) end() {
	if p.cluster != nil {
		p.heal()
		p.expectSettled()
		p.Stop()
	}
}

// run does what a line of a script says, and shows what came of it.
func (p *player) run(d *datadriven.TestData) string {
	var args []string
	for _, a := range d.CmdArgs {
		args = append(args, a.String())
	}
	said := p.do(d.Cmd, args, d)
	synctest.Wait()
	if said != "" {
		return said + "\n"
	}
	now := p.show()
	if now == p.shown {
		now = ""
	} else {
		p.shown = now
	}
	for _, event := range slices.Sorted(slices.Values(p.events.All())) {
		now += "event " + event + "\n"
	}
	p.events.Forget()
	if now == "" {
		return "as before\n"
	}
	return p.relative(now)
}

// do does it. What it returns is shown in place of what there is.
func (p *player) do(command string, args []string, d *datadriven.TestData) string {
	switch command {
	case "begin":
		p.begins(d)
	case "stop":
		p.Stop()
	case "start":
		p.jobOptions.ReferToSourceSecrets = d.HasArg("refer")
		p.share()
		p.startNodes()
		p.startJobs()
		return "done"
	case "workload":
		p.startWorkload(args[0], d.Input)
	case "manager":
		p.startManagers(args)
	case "kubelets":
		p.kubelets(patches.Duration(p.t, args[0]))
	case "wait":
		p.Sleep(patches.Duration(p.t, args[0]))
	case "agents":
		p.agents(func(node string) v1alpha1.ImagePullPhase {
			if len(args) == 1 || args[1] == node {
				return v1alpha1.ImagePullPhase(args[0])
			}
			return ""
		})
	case "replay":
		return p.replay(args[0])
	case "kubelet":
		if args[0] == "runs" {
			p.kubelet(nil)
			break
		}
		p.kubelet(&corev1.ContainerStateWaiting{Reason: args[0], Message: strings.Join(args[1:], " ")})
	case "fail":
		p.fail(d, args)
	case "heal":
		return p.heal()
	case "hold", "release", "drop", "compact":
		map[string]func(string){"hold": p.Hold, "release": p.Release, "drop": p.Drop, "compact": p.Compact}[command](args[0])
		return "done" // what comes of it is shown once it has settled
	case "requests":
		said := "jobs: " + cmp.Or(strings.Join(p.sent(jobUser), ", "), "nothing") + "\nnodes: " + cmp.Or(strings.Join(p.sent(nodeUser), ", "), "nothing") + p.deletions()
		p.ForgetRequests()
		return said
	case "heartbeat":
		p.heartbeat()
	case "reconciles":
		before := p.reconciled
		p.reconciled = p.jobReconciles.Count() + p.nodeReconciles.Count()
		return map[bool]string{true: "none", false: "some"}[before == p.reconciled]
	default:
		p.change(command, args, d.Input)
	}
	return ""
}

// begins begins a story.
func (p *player) begins(d *datadriven.TestData) {
	p.end()
	p.cluster, p.began, p.shown, p.order = newCluster(p.t), time.Now(), "", nil
	nodes := 0
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "nodes":
			arg.Scan(p.t, 0, &nodes)
		case "response":
			p.nodeOptions.Timing.ResponseTimeout = patches.Duration(p.t, arg.Vals[0])
		case "pull-pods":
			p.nodeOptions.PullPods = &nodeimage.PullPods{PauseImage: "pause:1"}
		case "per-namespace":
			arg.Scan(p.t, 0, &p.nodeOptions.PullPods.PerNamespace)
		case "workers":
			arg.Scan(p.t, 0, &p.nodeOptions.Workers)
		case "refer":
			p.jobOptions.ReferToSourceSecrets = true
		}
	}
	p.addNodes(nodes)
	p.share()
	p.startNodes()
	if !d.HasArg("nodes-only") {
		p.startJobs()
	}
	p.Sleep(31 * time.Second)
	p.ForgetRequests()
	p.reconciled = p.jobReconciles.Count() + p.nodeReconciles.Count()
}

// replay sends the requests of an agent, as they were written down, and shows what comes of each.
func (p *player) replay(file string) (out string) {
	pass := func(d time.Duration) {
		p.Sleep(d)
		out += fmt.Sprintln("after", d)
	}
	patches.Replay(p.t, "testdata/agents/"+file, pass, func(_, text string) {
		_, err := p.distribution(agentUser).NodeImages().Patch(p.Context(), "n0000", types.MergePatchType, []byte(text), metav1.PatchOptions{}, "status")
		p.Must(err)
		p.Sleep(time.Second)
		out += p.relative(p.show())
	})
	return strings.TrimSuffix(out, "\n")
}
