// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// request is a request to restart containers, of some age.
func request(created, annotations, spec, status string) string {
	return `{apiVersion: apps.kruise.io/v1alpha1, kind: ` + restarts + `, metadata: {namespace: shop, name: r, creationTimestamp: "2026-03-01T` + created + `:00Z", annotations: {` + annotations + `}}, spec: {podName: web` + spec + `}, status: {` + status + `}}`
}

// What there is to say about requests, spreads and budgets. (KC-26)
func TestCheckRequestsSpreadsAndBudgets(t *testing.T) {
	const (
		out    = `crr.apps.kruise.io/unready-acquired: "2026-03-01T11:00:00Z"`
		mirror = `{apiVersion: v1, kind: Pod, metadata: {namespace: shop, name: web, annotations: {kubernetes.io/config.mirror: x}}}`
		total  = "pub.kruise.io/protect-total-replicas"
		cr     = restarts + " shop/r: "
		ws     = spreads + " shop/s: "
		pub    = budgets + " shop/b: "
	)
	spread := func(rest string) string {
		return custom(spreads, "s", "spec: {targetRef: {apiVersion: apps.kruise.io/v1alpha1, kind: "+cloned+", name: web}, "+rest)
	}
	patched := func(label string) string {
		return spread("subsets: [{name: a}, {name: b, patch: {metadata: {labels: {" + label + "}}}}]}")
	}
	twin := func(name, created, kind, workload string) string {
		return strings.Replace(custom(spreads, name, "spec: {targetRef: {apiVersion: apps.kruise.io/v1alpha1, kind: "+kind+", name: "+workload+"}}"),
			"name: "+name, "name: "+name+`, creationTimestamp: "2026-03-01T`+created+`:00Z"`, 1)
	}
	budget := func(annotation, rest string) string {
		return strings.Replace(custom(budgets, "b", rest), "name: b", "name: b, annotations: {"+annotation+"}", 1)
	}
	web := custom(cloned, "web", "spec: {selector: {matchLabels: {app: web}}}")
	const wanted = "spec: {selector: {}, minAvailable: 1}, status: {totalReplicas: 3, desiredAvailable: 1}"
	for _, test := range []struct {
		name, release, gates string
		objects, want        []string
	}{
		{"CRR-M1: completed", "1.8", "", []string{request("11:00", "", "", "phase: Completed")}, nil},
		{"CRR-M3: just made", "1.8", "", []string{request("11:59", "", "", "")}, []string{
			"will happen: " + cr + "No agent has answered it yet. podwright counts the 60 s for that anew. [CRR-M3] "}},
		{"CRR-M5: under way", "1.8", "", []string{request("11:55", "", "", "phase: Recreating")}, []string{
			"will happen: " + cr + "It goes on as its agent reports. [CRR-M5] "}},
		{"CRR-M4: a deadline", "1.8", "", []string{request("11:00", out, ", activeDeadlineSeconds: 7200", "phase: Recreating"), mirror}, []string{
			"will happen: " + cr + "It goes on. podwright counts its deadline from when its manager first sees it, 15 minutes after the creation at the latest. [CRR-M4] "}},
		{"CRR-M9: nothing will come of it", "1.8", "", []string{request("11:00", out, "", "phase: Recreating")}, []string{
			"stuck today: " + cr + "It is 1h0m0s old, and its pod is out of service for it. OpenKruise waits for an agent that is gone for ever. [CRR-M9] " +
				"Nothing: if no agent takes it, podwright completes it after 10 minutes, and puts the pod back."}},
		{"CRR-M9: its times are long", "1.8", "", []string{request("11:00", out, ", strategy: {unreadyGracePeriodSeconds: 3000, minStartedSeconds: 30}", "phase: Recreating")}, []string{
			"will happen: " + cr + "It goes on as its agent reports. [CRR-M5] "}},
		{"CRR-M5: the pod serves", "1.8", "", []string{request("11:00", "", "", "phase: Pending")}, []string{
			"stuck today: " + cr + "It is 1h0m0s old and has no deadline. It does not end while the agent of its node is gone. [CRR-M5] See whether that agent runs, or delete it: podwright waits as well."}},
		{"CRR-M8: a static pod", "1.8", "", []string{request("11:59", "", "", "phase: Pending"), mirror}, []string{
			"stuck today: " + cr + "Its pod is the mirror of a static one: OpenKruise waits for ever. [CRR-M8] Nothing: podwright completes it."}},

		{"WS-21.1: another label", "1.8", "", []string{patched("zone: b"), web}, nil},
		{"WS-21.1: the same value", "1.8", "", []string{patched("app: web"), web}, nil},
		{"WS-21.1: a label that it selects by", "1.8", "", []string{patched("app: other"), web}, []string{
			"stuck today: " + ws + "The patch of its subset b changes the label app, by which its workload knows its pods. With OpenKruise it creates pods without end. [WS-21.1] " +
				"Take the label out of the patch: podwright refuses the pods of this subset."}},
		{"WS-21.1: a label of controllers, whatever the workload", "1.8", "", []string{patched("pod-template-hash: null")}, []string{
			"stuck today: " + ws + "The patch of its subset b changes the label pod-template-hash, by which its workload knows its pods. With OpenKruise it creates pods without end. [WS-21.1] " +
				"Take the label out of the patch: podwright refuses the pods of this subset."}},
		{"WS-22: two of one workload", "1.8", "", []string{twin("a", "11:00", cloned, "web"), twin("s", "10:00", cloned, "web")}, []string{
			"stuck today: " + spreads + " shop/a: It names the same workload as " + spreads + " shop/s, which comes first. With OpenKruise each takes the pods of the other, without end. [WS-22] " +
				"Delete one of both: with podwright this one has no pods."}},
		{"WS-22: two that were created together", "1.8", "", []string{twin("s", "10:00", cloned, "web"), twin("a", "10:00", cloned, "web")}, []string{
			"stuck today: " + ws + "It names the same workload as " + spreads + " shop/a, which comes first. With OpenKruise each takes the pods of the other, without end. [WS-22] " +
				"Delete one of both: with podwright this one has no pods."}},
		{"WS-22: one that is being deleted comes last", "1.8", "", []string{twin("a", "11:00", cloned, "web"), strings.Replace(twin("s", "10:00", cloned, "web"), "name: s", `name: s, deletionTimestamp: "2026-03-01T11:30:00Z"`, 1)}, []string{
			"stuck today: " + ws + "It names the same workload as " + spreads + " shop/a, which comes first. With OpenKruise each takes the pods of the other, without end. [WS-22] " +
				"Delete one of both: with podwright this one has no pods."}},
		{"WS-22: of other names, kinds and namespaces", "1.8", "", []string{twin("a", "11:00", cloned, "web"), twin("b", "11:00", cloned, "db"), twin("c", "11:00", ordinal, "web"),
			strings.Replace(twin("d", "11:00", cloned, "web"), "namespace: shop", "namespace: other", 1)}, nil},
		{"WS-22: what names no workload", "1.8", "", []string{custom(spreads, "a", "spec: {}"), custom(spreads, "b", "spec: {}")}, nil},

		{"WS-33: a filter without a selector", "1.8", "", []string{spread("targetFilter: {replicasPathList: [spec.replicas]}}")}, []string{
			"needs an answer: " + ws + "Its targetFilter has no selector: OpenKruise spreads no new pod, and podwright all of them. [WS-33] Write a selector, or decide that it may change."}},
		{"WS-33: one with a selector", "1.8", "", []string{spread("targetFilter: {selector: {}}}")}, nil},
		{"WS-20: versions", "1.8", "", []string{custom(spreads, "s", "status: {versionedSubsetStatuses: {a: []}}")}, []string{
			"will happen: " + ws + "podwright empties its versionedSubsetStatuses: it tells versions by the pods. [WS-20] "}},

		{"PUB: as it should be", "1.8", "", []string{budget("", wanted)}, nil},
		{"PUB-14.6: no status", "1.8", "", []string{budget("", "spec: {selector: {}}")}, []string{
			"will happen: " + pub + "Its status has not been written. podwright lets none of its pods go until it is; OpenKruise lets all of them go. [PUB-14.6] "}},
		{"PUB-14.7: nothing is wanted", "1.8", "", []string{budget("", "spec: {maxUnavailable: 100%}, status: {totalReplicas: 3, desiredAvailable: 0}")}, []string{
			"will happen: " + pub + "It protects nothing, with podwright as with OpenKruise: none of 3 pods has to be available. [PUB-14.7] "}},
		{"PUB-4: scaled to 0", "1.8", "", []string{budget("", "spec: {maxUnavailable: 1}, status: {totalReplicas: 0, desiredAvailable: 0}")}, nil},
		{"PUB-23: a kind of others", "1.8", "", []string{budget("", "spec: {targetRef: {apiVersion: x.io/v1, kind: Widget, name: w}}, status: {totalReplicas: 0, desiredAvailable: 0}")}, []string{
			"needs an answer: " + pub + "Its target is a Widget, which podwright reads only if it is told. Else it is not known how many pods are wanted, and no available one may go. [PUB-23] " +
				giveTargets}},
		{"PUB-43: the total of the annotation", "1.8", "", []string{budget(total+`: "7"`, wanted)}, []string{
			"needs an answer: " + pub + "Its total is the 7 of its annotation " + total + ": with OpenKruise whatever its workloads want, with podwright only if its workloads want nothing. [PUB-43] " +
				"Give podwright's manager --feature-gates=" + string(totalAnnotated) + "=true, or decide that it may change."}},
		{"PUB-43: with the gate", "1.8", string(totalAnnotated) + "=true", []string{budget(total+`: "7"`, wanted)}, nil},
		{"PUB-43: as 1.9", "1.9", "", []string{budget(total+`: "7"`, wanted)}, nil},
		{"PUB-43: before 1.8", "1.7", "", []string{budget(total+`: "7"`, wanted)}, nil},
		{"PUB-43: no number", "1.9", "", []string{budget(total+": few", wanted)}, []string{
			"needs an answer: " + pub + "Its annotation " + total + " is no number: OpenKruise takes it for 0 pods, and protects nothing. podwright passes it over, and protects its pods. [PUB-43] Write a number, or take it away."}},
		{"PUB-41: below 0", "1.4", "", []string{budget(total+`: "-1"`, wanted)}, []string{
			"needs an answer: " + pub + "Its annotation " + total + " is below 0: nothing is protected, and podwright refuses it when it is written again. [PUB-41] Write a number of pods, or take it away."}},
	} {
		gates := strings.Trim("ResourcesDeletionProtection=false,"+test.gates, ",")
		if before(test.release, "1.8") {
			gates = strings.TrimPrefix(gates, "ResourcesDeletionProtection=false")
		}
		if diff := cmp.Diff(test.want, found(t, test.release, strings.Trim(gates, ","), test.objects...)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// What a user has taken away is named before podwright adds it. (PF-5)
func TestCheckEntriesTakenAway(t *testing.T) {
	entry := func(names ...string) (list string) {
		for _, name := range names {
			list += "{name: " + name + ".kb.io, failurePolicy: Ignore, clientConfig: {service: {namespace: kruise-system, name: kruise-webhook-service}}}, "
		}
		return "[" + list + "]"
	}
	configuration := func(annotations, list string) string {
		return "{kind: MutatingWebhookConfiguration, metadata: {name: kruise-mutating-webhook-configuration, annotations: {" + annotations + "}}, webhooks: " + list + "}"
	}
	var all []string
	for _, kind := range inEveryList {
		all = append(all, "m"+strings.ToLower(kind))
	}
	says := "needs an answer: MutatingWebhookConfiguration kruise-mutating-webhook-configuration: Its list lacks " + all[4] + ".kb.io, " + all[5] + ".kb.io, which that of each release has: " +
		"a user or a chart has left them out. podwright adds them, once. [PF-5] To keep one away, write its name into the annotation podwright.github.io/offered-webhooks of the configuration before the manager starts: names, with spaces between."
	for _, test := range []struct{ name, configuration, want string }{
		{"all are there", configuration("", entry(all...)), ""},
		{"two are not", configuration("", entry(all[:4]...)), says},
		{"both are to stay away", configuration("podwright.github.io/offered-webhooks: "+all[5]+".kb.io "+all[4]+".kb.io", entry(all[:4]...)), ""},
		{"the template counts", configuration(`template: '[{"name":"`+strings.Join(all[:4], `.kb.io"},{"name":"`)+`.kb.io"}]'`, entry(all...)), says},
		{"a template that cannot be read", configuration("template: few", entry(all[:4]...)), ""},
	} {
		said := strings.Join(found(t, "1.8", "ResourcesDeletionProtection=false", test.configuration), "\n")
		if got := strings.Contains(said, "Its list lacks"); got != (test.want != "") || !strings.Contains(said, test.want) {
			t.Errorf("PF-5: %s: %s", test.name, said)
		}
	}
}
