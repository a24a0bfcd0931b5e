// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"strings"
	"testing"
)

// Of kinds whose planner is not asked, explain says what their status says, wherever that stands. (KC-22)
func TestExplainTold(t *testing.T) {
	const runbook = "https://github.com/podwright/podwright/blob/main/examples/monitoring/RUNBOOK.md#"
	const since = "2026-03-01T11:00:00Z"
	condition := func(reason, message string) string {
		return fmt.Sprintf(`conditions: [{type: HeldUp, status: "True", reason: %q, message: %q, lastTransitionTime: %q}]`, reason, message, since)
	}
	for _, test := range []struct{ kind, status, want string }{
		{"PodUnavailableBudget", condition("CrashLoop", "pod web-2: container main of image nginx:2: CrashLoopBackOff"),
			"CrashLoop since " + since + ": pod web-2: container main of image nginx:2: CrashLoopBackOff\n  Ends when the container stays up, or the template is changed; kubectl logs --previous says why it ended.\n  Runbook: " + runbook + "budgetexhausted\n"},
		{"WorkloadSpread", "subsetStatuses: [{name: a}, {name: b, " + condition("TargetMissing", "workload Deployment web: it is not there") + "}]",
			"TargetMissing since " + since + ": workload Deployment web: it is not there\n  Ends when the workload is created, or the WorkloadSpread is deleted.\n  Runbook: " + runbook + "subsetheldup\n"},
		{"ResourceDistribution", `conditions: [{type: CreateResourceFailed, status: "True", reason: x}, {type: HeldUp, status: "True", reason: "NamespaceNotExists: namespace ns-9: namespace not found or is terminating", lastTransitionTime: "` + since + `"}]`,
			"NamespaceNotExists since " + since + ": namespace ns-9: namespace not found or is terminating\n  Ends when the namespace is created, or is no target any more.\n  Runbook: " + runbook + "heldup\n"},
		{"PodProbeMarker", condition("NoResult", "pod web-0: probe idle has no result: the agent of node n1 has not reported one"),
			"NoResult since " + since + ": pod web-0: probe idle has no result: the agent of node n1 has not reported one\n  Ends when the agent of the node reports a result.\n  Runbook: " + runbook + "heldup\n"},
		{"ContainerRecreateRequest", `message: "held up since ` + since + `: AgentSilent: node node-1: the agent has not stopped container main"`,
			"AgentSilent since " + since + ": node node-1: the agent has not stopped container main\n  Ends when the agent of the node works again.\n  Runbook: " + runbook + "containerrecreaterequestpending\n"},
		{"NodeImage", `imageStatuses: {nginx: {tags: [{tag: "1"}, {tag: "2", message: "held up since ` + since + `: PullSlot: image nginx:2: 5 other pulls are under way, which is as many as may be"}]}}`,
			"PullSlot since " + since + ": image nginx:2: 5 other pulls are under way, which is as many as may be\n  Ends when a pull of the node ends.\n  Runbook: " + runbook + "nodeimagefailing\n"},
		{"ImagePullJob", `message: "job is running, progress 0.0%; held up since ` + since + `: Paused: spec.parallelism is 0: the job is paused"`,
			"Paused since " + since + ": spec.parallelism is 0: the job is paused\n  Ends when the update is resumed.\n  Runbook: " + runbook + "imagepulljobfailing\n"},
		{"BroadcastJob", condition("Image", "node n2: pod x: y"), "Image since " + since + ": node n2: pod x: y\n  Ends when the image can be pulled, or the template names another one.\n  Runbook: " + runbook + "heldup\n"},
		{"PodProbeMarker", "matchedPods: 1", "Its status says of nothing that it has been held up for a minute.\n"},
		{"WorkloadSpread", "observedGeneration: 0", "NotObserved: the status is of generation 0, and the spec of 1\n  Ends when the manager gets to it; its log says what keeps it.\n  Runbook: " + runbook + "reconcileerrors\n"},
	} {
		t.Run(test.kind, func(t *testing.T) {
			c := newCluster(t)
			group := "apps.kruise.io"
			if test.kind == "PodUnavailableBudget" {
				group = "policy.kruise.io"
			}
			c.create(`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: kruise-manager, namespace: kruise-system}, spec: {leaseDurationSeconds: 15, renewTime: "2026-03-01T11:59:58.000000Z"}}`)
			c.create(fmt.Sprintf("{apiVersion: %s/v1alpha1, kind: %s, metadata: {name: web}, spec: {a: b}, status: {%s}}", group, test.kind, test.status))
			if got := c.run("explain", strings.ToLower(test.kind)+"s."+group+"/web"); got != test.want {
				t.Errorf("it says\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// A kind whose status says nothing is refused, with the reason; a manager that is absent is said first, and the rest as data. (KC-22)
func TestExplainToldOtherwise(t *testing.T) {
	c := newCluster(t)
	c.create(`{apiVersion: apps.kruise.io/v1alpha1, kind: AdvancedCronJob, metadata: {name: web}}`)
	if got := c.run("explain", "advancedcronjobs.apps.kruise.io/web"); !strings.Contains(got, "does not say what holds it up: it waits for its next time") {
		t.Error(got)
	}
	c.create(`{apiVersion: apps.kruise.io/v1alpha1, kind: PodProbeMarker, metadata: {name: web}, status: {conditions: [{type: HeldUp, status: "True", reason: NoResult, message: "pod a: b"}]}}`)
	if got := c.run("explain", "podprobemarkers.apps.kruise.io/web", "-o", "yaml"); !strings.Contains(got, "code: ManagerAbsent") || !strings.Contains(got, "code: NoResult") || !strings.Contains(got, "of: podprobemarker.apps.kruise.io/web") {
		t.Error(got)
	}
}
