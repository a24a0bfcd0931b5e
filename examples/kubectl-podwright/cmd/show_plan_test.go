// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/podwright/podwright/examples/process/switches"
)

// rolling creates a CloneSet of image nginx:2 with five ready pods of nginx:1, web-a to web-e.
func rolling(c *cluster, spec string) {
	c.t.Helper()
	pods(c, c.create(cloneset(spec, "observedGeneration: 1, replicas: 5")).GetUID(), "CloneSet", "web-a", "web-b", "web-c", "web-d", "web-e")
}

// pods creates a revision of image nginx:1, and ready pods of it.
func pods(c *cluster, owner any, kind string, names ...string) {
	c.t.Helper()
	reference := fmt.Sprintf("{apiVersion: apps.kruise.io/v1alpha1, kind: %s, name: web, uid: %s, controller: true}", kind, owner)
	c.create(fmt.Sprintf(`
apiVersion: apps/v1
kind: ControllerRevision
metadata: {name: web-old, labels: {app: web, controller.kubernetes.io/hash: old}, ownerReferences: [%s]}
data: {"spec":{"template":%s}}
revision: 1`, reference, strings.Replace(template("nginx:1"), "{", `{"$patch":"replace",`, 1)))
	for _, name := range names {
		c.create(fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata:
  name: %[1]s
  labels: {app: web, controller-revision-hash: web-old, pod-template-hash: old, apps.kruise.io/cloneset-instance-id: %[1]s, statefulset.kubernetes.io/pod-name: %[1]s, lifecycle.apps.kruise.io/state: Normal}
  ownerReferences: [%[2]s]
spec: {nodeName: node-1, readinessGates: [{conditionType: InPlaceUpdateReady}, {conditionType: KruisePodReady}], containers: [{name: main, image: "nginx:1"}]}
status:
  phase: Running
  conditions: [{type: Ready, status: "True"}, {type: ContainersReady, status: "True"}, {type: InPlaceUpdateReady, status: "True"}, {type: KruisePodReady, status: "True"}]
  containerStatuses: [{name: main, image: "nginx:1", imageID: one, ready: true, restartCount: 0, containerID: "c://1", state: {running: {}}}]`, name, reference))
	}
}

// (KC-19)
func TestPlan(t *testing.T) {
	for _, test := range []struct{ name, spec, want string }{
		{"in place", ", updateStrategy: {type: InPlaceIfPossible, maxUnavailable: 2, partition: 1}",
			"update in place 2, wait MaxUnavailable 2, wait Partition 1"},
		{"by recreation", ", updateStrategy: {type: ReCreate, maxUnavailable: 1}", "recreate 1, wait MaxUnavailable 4"},
		{"paused", ", updateStrategy: {paused: true}", "wait Paused 5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			rolling(c, test.spec)
			before := len(c.server.Requests("user"))
			if got := c.run("plan", "cloneset/web"); tally(got) != test.want {
				t.Errorf("the plan is\n%s\nwhich is %s, want %s", got, tally(got), test.want)
			}
			for _, r := range c.server.Requests("user")[before:] {
				if r.Verb != "get" && r.Verb != "list" {
					t.Errorf("a plan makes the request %s", r.String())
				}
			}
		})
	}
}

// (KC-19)
func TestPlanAsData(t *testing.T) {
	c := newCluster(t)
	c.create(strings.Replace(cloneset("", ""), "replicas: 5", "replicas: 0", 1))
	c.expect("next: []\nof: cloneset.apps.kruise.io/web\n", "plan", "cloneset/web", "-o", "yaml")
	c = newCluster(t)
	pods(c, c.create(strings.Replace(cloneset(", updateStrategy: {paused: true}", ""), "replicas: 5", "replicas: 1", 1)).GetUID(), "CloneSet", "web-a")
	c.expect(`{
    "of": "cloneset.apps.kruise.io/web",
    "next": [
        {
            "name": "web-a",
            "action": "wait",
            "rule": "Paused",
            "detail": "updateStrategy.paused is true"
        }
    ]
}
`, "plan", "cloneset/web", "-o", "json")
	c.expect("error: unable to match a printer suitable for the output format \"wide\", allowed formats are: json,yaml\nexit code 1\n", "plan", "cloneset/web", "-o", "wide")
	if got := c.run("plan", "cloneset/web", "-o", "json", "--full"); !strings.Contains(got, "exit code 1") {
		t.Errorf("two outputs give\n%s", got)
	}
}

// A manifest is planned for as if it were applied, which it is not. (KC-19)
func TestPlanManifest(t *testing.T) {
	c := newCluster(t)
	rolling(c, ", updateStrategy: {paused: true}")
	manifest := c.file(cloneset(", updateStrategy: {type: InPlaceIfPossible, maxUnavailable: 1, paused: false}", ""))
	if got := c.run("plan", "-f", manifest); tally(got) != "update in place 1, wait MaxUnavailable 4" {
		t.Errorf("the plan is\n%s", got)
	}
	if got := c.run("plan", "-f", c.file(strings.Replace(cloneset("", ""), "name: web", "name: new", 1))); tally(got) != "create 5" || strings.Count(got, "new-* ") != 5 {
		t.Errorf("the plan of a new cloneset is\n%s", got)
	}
	more := c.file(strings.Replace(cloneset(", updateStrategy: {paused: true}", ""), "replicas: 5", "replicas: 7", 1))
	if got := c.run("plan", "-f", more); strings.Count(got, "web-* ") != 2 || strings.Count(got, " create ") != 2 {
		t.Errorf("the plan of more pods, whose names depend on what is applied, is\n%s", got)
	}
	if got := c.run("plan", "cloneset/web"); tally(got) != "wait Paused 5" {
		t.Errorf("the plan of what there is is\n%s", got)
	}
}

// (KC-19)
func TestPlanKinds(t *testing.T) {
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		c := newCluster(t, version)
		document := kindOf("StatefulSet", ", serviceName: web, updateStrategy: {type: RollingUpdate, rollingUpdate: {partition: 3}}", "observedGeneration: 1, replicas: 5")
		pods(c, c.create(strings.Replace(document, "v1alpha1", version, 1)).GetUID(), "StatefulSet", "web-0", "web-1", "web-2", "web-3", "web-4")
		if got := c.run("plan", "asts/web"); tally(got) != "recreate 1, wait MaxUnavailable 1, wait Partition 3" {
			t.Errorf("the plan of a StatefulSet %s is\n%s", version, got)
		}
	}
	c := newCluster(t)
	pods(c, c.create(kindOf("DaemonSet", ", updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}", "observedGeneration: 1")).GetUID(), "DaemonSet", "web-a")
	c.create("{apiVersion: v1, kind: Node, metadata: {name: node-1}}")
	if got := c.run("plan", "ads/web"); tally(got) != "recreate 1" {
		t.Errorf("the plan of a DaemonSet is\n%s", got)
	}
	for partition, want := range map[string]string{"0%": "recreate 1", "100%": "wait Partition 1"} { // DS-V3
		c := newCluster(t, "v1beta1")
		document := kindOf("DaemonSet", ", updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1, partition: "+partition+"}}", "observedGeneration: 1")
		pods(c, c.create(strings.Replace(document, "v1alpha1", "v1beta1", 1)).GetUID(), "DaemonSet", "web-a")
		c.create("{apiVersion: v1, kind: Node, metadata: {name: node-1}}")
		if got := c.run("plan", "ads/web"); tally(got) != want {
			t.Errorf("the plan of a DaemonSet of v1beta1 with the partition %s is\n%s", partition, got)
		}
	}
	c.create(kindOf("BroadcastJob", "", ""))
	c.expect("error: cannot plan for a BroadcastJob: only for clonesets, statefulsets.apps.kruise.io, daemonsets.apps.kruise.io, sidecarsets and uniteddeployments\nexit code 1\n", "plan", "broadcastjob/web")
}

// tally counts the rows of a plan by what is done, or by what is waited for as its detail names it.
func tally(table string) string {
	words := []struct{ in, out string }{
		{"update in place", "update in place"}, {"recreate", "recreate"}, {"create", "create"}, {"delete", "delete"},
		{"maxUnavailable", "wait MaxUnavailable"}, {"partition", "wait Partition"}, {"paused", "wait Paused"},
	}
	count := map[string]int{}
	for _, line := range strings.Split(table, "\n") {
		for _, word := range words {
			if strings.Contains(line, word.in) {
				count[word.out]++
				break
			}
		}
	}
	var parts []string
	for _, word := range words {
		if n := count[word.out]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", word.out, n))
		}
	}
	return strings.Join(parts, ", ")
}

// So do flags of the manager that switch what controllers do: plan, explain and tree take all of them. (KC-19)
func TestPlanBySettings(t *testing.T) {
	c := newCluster(t)
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	switches.NewSettings().AddFlags(flags)
	for _, command := range []string{"plan", "explain", "tree"} {
		help := c.run(command, "--help")
		flags.VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(help, "--"+f.Name+"="+f.DefValue+":") {
				t.Errorf("%s does not take --%s=%s", command, f.Name, f.DefValue)
			}
		})
	}
	c.create(`
apiVersion: apps.kruise.io/v1alpha1
kind: UnitedDeployment
metadata: {name: web, namespace: default}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template: {cloneSetTemplate: {metadata: {labels: {app: web}}, spec: {selector: {matchLabels: {app: web}}, template: ` + template("nginx:1") + `}}}
  topology: {subsets: [{name: a, minReplicas: 4}, {name: b}]}`)
	const flag = "--uniteddeployment-adaptive-scheduling"
	for flags, want := range map[string]string{"": "for subset a with 2 pods", flag: "for subset a with 5 pods"} {
		if got := c.run(append([]string{"plan", "uniteddeployments.apps.kruise.io/web"}, strings.Fields(flags)...)...); !strings.Contains(got, want) {
			t.Errorf("with %q it says, want %q\n%s", flags, want, got)
		}
	}
}

// What the manager does depends on its feature gates. So users name them, as they do to the manager. (KC-19)
func TestPlanByGates(t *testing.T) {
	c := newCluster(t, "v1beta1")
	set := kindOf("StatefulSet", ", serviceName: web, podManagementPolicy: Parallel, ordinals: {start: 1}", "observedGeneration: 1, replicas: 5")
	pods(c, c.create(strings.Replace(set, "v1alpha1", "v1beta1", 1)).GetUID(), "StatefulSet", "web-0", "web-1")
	fifth := regexp.MustCompile(`\bweb-5\b`)
	const start = "--feature-gates=StatefulSetStartOrdinal=true"
	for flags, want := range map[string]bool{"": false, start: true, "--release=1.9": false, "--release=1.9 " + start: true, start + ",AllAlpha=false": true, start + " --release=1.4": true} {
		for _, command := range []string{"plan", "explain"} {
			if got := c.run(append([]string{command, "asts/web"}, strings.Fields(flags)...)...); fifth.MatchString(got) != want || !strings.Contains(got, "web-4") {
				t.Errorf("%s with %q says, of web-5 too: want %t\n%s", command, flags, want, got)
			}
		}
	}
	for _, command := range []string{"plan", "explain", "tree"} {
		c.expect("error: --feature-gates=Swift=true: unrecognized feature gate: Swift\nexit code 1\n", command, "asts/web", "--feature-gates=Swift=true")
	}
}
