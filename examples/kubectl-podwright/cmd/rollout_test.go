// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"strings"
	"testing"
)

// template is a pod template as revisions hold it, and in YAML.
func template(image string) string {
	return `{"metadata":{"creationTimestamp":null,"labels":{"app":"web"}},"spec":{"containers":[{"image":"` + image + `","name":"main","resources":{}}]}}`
}

// cloneset is a CloneSet in YAML, at generation 1, with more of its spec and a status, each one line.
func cloneset(spec, status string) string {
	return fmt.Sprintf(`
apiVersion: apps.kruise.io/v1alpha1
kind: CloneSet
metadata: {name: web, namespace: default, labels: {app: web}}
spec: {replicas: 5, selector: {matchLabels: {app: web}}, unheardOf: stays, template: %s%s}
status: {%s}`, template("nginx:2"), spec, status)
}

// withHistory creates a CloneSet of image nginx:2 and its revisions 1 to 3, of nginx:1, nginx:3 and nginx:2.
func withHistory(c *cluster, document string) {
	c.t.Helper()
	set := c.create(document)
	for number, image := range []string{1: "nginx:1", 2: "nginx:3", 3: "nginx:2"} {
		if number > 0 {
			c.create(fmt.Sprintf(`
apiVersion: apps/v1
kind: ControllerRevision
metadata:
  name: web-%d
  annotations: {kubernetes.io/change-cause: to %s}
  ownerReferences: [{apiVersion: %s, kind: %s, name: web, uid: %s, controller: true}]
data: {"spec":{"template":%s}}
revision: %d`, number, image, set.GetAPIVersion(), set.GetKind(), set.GetUID(), strings.Replace(template(image), "{", `{"$patch":"replace",`, 1), number))
		}
	}
}

// (KC-4)
func TestStatus(t *testing.T) {
	for _, test := range []struct {
		name, document, resource string
		flags                    string
		want                     string
	}{
		{"not observed", cloneset("", "observedGeneration: 0"), "cloneset", "", "Waiting for cloneset spec update to be observed...\n"},
		{"stalled", cloneset("", `observedGeneration: 1, replicas: 5, expectedUpdatedReplicas: 5, conditions: [{type: Stalled, status: "True", message: no progress}]`), "cloneset", "",
			"error: cloneset \"web\" cannot be rolled out: no progress\nexit code 1\n"},
		{"not updated", cloneset("", "observedGeneration: 1, replicas: 5, expectedUpdatedReplicas: 5, updatedReplicas: 2, updatedReadyReplicas: 2"), "cloneset", "",
			"Waiting for cloneset \"web\" rollout to finish: 2 out of 5 new pods have been updated...\n"},
		{"surge not gone", cloneset("", "observedGeneration: 1, replicas: 6, expectedUpdatedReplicas: 5, updatedReplicas: 5, updatedReadyReplicas: 5"), "cloneset", "",
			"Waiting for cloneset \"web\" rollout to finish: 1 old pods are pending termination...\n"},
		{"not scaled", cloneset(", updateStrategy: {partition: 5}", "observedGeneration: 1, replicas: 3"), "cloneset", "",
			"Waiting for cloneset \"web\" rollout to finish: 3 out of 5 pods have been created...\n"},
		{"not ready", cloneset("", "observedGeneration: 1, replicas: 5, expectedUpdatedReplicas: 5, updatedReplicas: 5, updatedReadyReplicas: 4"), "cloneset", "",
			"Waiting for cloneset \"web\" rollout to finish: 4 of 5 updated pods are available...\n"},
		{"ready, not available", cloneset("", "observedGeneration: 1, replicas: 5, expectedUpdatedReplicas: 5, updatedReplicas: 5, updatedReadyReplicas: 5, updatedAvailableReplicas: 1"), "cloneset", "",
			"Waiting for cloneset \"web\" rollout to finish: 1 of 5 updated pods are available...\n"},
		{"done", cloneset("", "observedGeneration: 1, replicas: 5, expectedUpdatedReplicas: 5, updatedReplicas: 5, updatedReadyReplicas: 5"), "cloneset", "",
			"cloneset \"web\" successfully rolled out\n"},
		{"done up to the partition", cloneset(", updateStrategy: {partition: 3}", "observedGeneration: 1, replicas: 5, expectedUpdatedReplicas: 2, updatedReplicas: 2, updatedReadyReplicas: 2"), "cloneset", "",
			"partitioned roll out complete: 2 new pods have been updated...\n"},
		{"the revision asked for", cloneset("", "observedGeneration: 1, replicas: 5, expectedUpdatedReplicas: 5, updatedReplicas: 5, updatedReadyReplicas: 5, updateRevision: web-3"), "cloneset", "--revision=3",
			"cloneset \"web\" successfully rolled out\n"},
		{"another revision", cloneset("", "observedGeneration: 1, updateRevision: web-3"), "cloneset", "--revision=2",
			"error: desired revision (2) is different from the running revision (3)\nexit code 1\n"},
		{"statefulset", kindOf("StatefulSet", ", updateStrategy: {rollingUpdate: {partition: 2}}", "observedGeneration: 1, replicas: 5, updatedReplicas: 2, readyReplicas: 5"), "statefulsets.apps.kruise.io", "",
			"Waiting for statefulset \"web\" rollout to finish: 2 out of 3 new pods have been updated...\n"},
		{"statefulset, updated by hand", kindOf("StatefulSet", ", updateStrategy: {type: OnDelete}", "observedGeneration: 1, replicas: 5, updatedReplicas: 2, readyReplicas: 5"), "statefulsets.apps.kruise.io", "",
			"error: rollout status is not available for the strategy OnDelete\nexit code 1\n"},
		{"daemonset", kindOf("DaemonSet", ", updateStrategy: {rollingUpdate: {partition: 1}}", "observedGeneration: 1, desiredNumberScheduled: 4, currentNumberScheduled: 4, updatedNumberScheduled: 3, numberAvailable: 3"), "daemonsets.apps.kruise.io", "",
			"Waiting for daemon set \"web\" rollout to finish: 3 of 4 updated pods are available...\n"},
		{"daemonset, another revision", kindOf("DaemonSet", "", "observedGeneration: 1, daemonSetHash: '3'"), "daemonsets.apps.kruise.io", "--revision=1",
			"error: desired revision (1) is different from the running revision (3)\nexit code 1\n"},
		{"uniteddeployment", kindOf("UnitedDeployment", "", "observedGeneration: 1, replicas: 5, updatedReplicas: 3, updatedReadyReplicas: 3, updateStatus: {currentPartitions: {a: 1, b: 1}}"), "uniteddeployment", "",
			"partitioned roll out complete: 3 new pods have been updated...\n"},
		{"job", kindOf("BroadcastJob", "", "observedGeneration: 1"), "broadcastjob", "", "error: no status viewer has been implemented for BroadcastJob\nexit code 1\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			withHistory(c, test.document)
			args := []string{"rollout", "status", test.resource + "/web", "--watch=false"}
			if test.flags != "" {
				args = append(args, test.flags)
			}
			c.expect(test.want, args...)
		})
	}
}

// A SidecarSet has no namespace, and its partition may be a percentage of the pods that it matches, rounded down. (KC-4, KC-7)
func TestSidecarSet(t *testing.T) {
	set := func(strategy, status string) string {
		return `
apiVersion: apps.kruise.io/v1alpha1
kind: SidecarSet
metadata: {name: mesh}
spec: {selector: {matchLabels: {app: web}}, updateStrategy: {` + strategy + `}, containers: [{name: envoy, image: "envoy:1"}]}
status: {observedGeneration: 1, matchedPods: 5, ` + status + "}"
	}
	for _, test := range []struct{ strategy, status, want string }{
		{"partition: 50%", "updatedPods: 2, updatedReadyPods: 2", "Waiting for sidecarset \"mesh\" rollout to finish: 2 out of 3 new pods have been updated...\n"},
		{"partition: 50%", "updatedPods: 3, updatedReadyPods: 3", "partitioned roll out complete: 3 new pods have been updated...\n"},
		{"type: NotUpdate", "updatedPods: 3, updatedReadyPods: 3", "error: rollout status is not available for the strategy NotUpdate\nexit code 1\n"},
	} {
		c := newCluster(t)
		c.create(set(test.strategy, test.status))
		c.expect(test.want, "rollout", "status", "sidecarset/mesh", "--watch=false")
	}
	c := newCluster(t)
	c.create(set("type: RollingUpdate", "updatedPods: 5"))
	c.expect("sidecarset.apps.kruise.io/mesh paused\n", "rollout", "pause", "sidecarset/mesh")
	c.expect("error: no last revision to roll back to\nexit code 1\n", "rollout", "undo", "sidecarset/mesh")
}

// kindOf is the document of a CloneSet, made one of another kind.
func kindOf(kind, spec, status string) string {
	return strings.Replace(cloneset(spec, status), "CloneSet", kind, 1)
}

// What v1beta1 of a DaemonSet says in other words, and what both versions say. (KC-4, DS-V3)
func TestStatusOfDaemonSets(t *testing.T) {
	const four = "observedGeneration: 1, desiredNumberScheduled: 4, currentNumberScheduled: 4, numberAvailable: 4, updatedNumberScheduled: "
	percentage := func(partition string) string {
		return ", updateStrategy: {rollingUpdate: {partition: " + partition + "}}"
	}
	for _, test := range []struct{ name, version, document, flags, want string }{
		{"a percentage, rounded up", "v1beta1", kindOf("DaemonSet", percentage("30%"), four+"1"), "", "Waiting for daemon set \"web\" rollout to finish: 1 out of 2 new pods have been updated...\n"},
		{"a percentage in v1alpha1", "v1alpha1", kindOf("DaemonSet", percentage("30%"), four+"1"), "", "Waiting for daemon set \"web\" rollout to finish: 1 out of 2 new pods have been updated...\n"},
		{"it is enough", "v1beta1", kindOf("DaemonSet", percentage("30%"), four+"2"), "", "partitioned roll out complete: 2 new pods have been updated...\n"},
		{"all are held back", "v1alpha1", kindOf("DaemonSet", percentage("2147483647"), four+"0"), "", "partitioned roll out complete: 0 new pods have been updated...\n"},
		{"no partition", "v1beta1", kindOf("DaemonSet", "", four+"4"), "", "daemon set \"web\" successfully rolled out\n"},
		{"the hash of a revision", "v1beta1", kindOf("DaemonSet", "", four+"4, updateRevision: '3'"), "--revision=1", "error: desired revision (1) is different from the running revision (3)\nexit code 1\n"},
		{"the name of a revision", "v1beta1", kindOf("DaemonSet", "", four+"4, updateRevision: web-3"), "--revision=1", "error: desired revision (1) is different from the running revision (3)\nexit code 1\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t, test.version)
			withHistory(c, strings.Replace(test.document, "v1alpha1", test.version, 1))
			c.expect(test.want, append([]string{"rollout", "status", "daemonsets.apps.kruise.io/web", "--watch=false"}, strings.Fields(test.flags)...)...)
		})
	}
}

// A rollout that does not end is watched as long as the timeout allows. (KC-4)
func TestStatusTimeout(t *testing.T) {
	c := newCluster(t)
	c.create(cloneset("", "observedGeneration: 1, replicas: 5, expectedUpdatedReplicas: 5, updatedReplicas: 2"))
	c.expect("Waiting for cloneset \"web\" rollout to finish: 2 out of 5 new pods have been updated...\n"+
		"error: timed out waiting for the condition\nexit code 1\n", "rollout", "status", "cloneset/web", "--timeout=300ms")
}

// (KC-5)
func TestHistory(t *testing.T) {
	c := newCluster(t)
	withHistory(c, cloneset("", ""))
	c.expect("cloneset.apps.kruise.io/web \nREVISION  CHANGE-CAUSE\n1         to nginx:1\n2         to nginx:3\n3         to nginx:2\n\n", "rollout", "history", "cloneset/web")
	if got := c.run("rollout", "history", "cloneset/web", "--revision=2"); !strings.Contains(got, "with revision #2") || !strings.Contains(got, "Image:\tnginx:3") {
		t.Errorf("revision 2 is\n%s", got)
	}
	c.expect("error: unable to find the specified revision\nexit code 1\n", "rollout", "history", "cloneset/web", "--revision=4")
	c.expect("nginx:1", "rollout", "history", "cloneset/web", "--revision=1", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
}

// (KC-6)
func TestUndo(t *testing.T) {
	image := func(c *cluster) any {
		containers := c.field("clonesets.apps.kruise.io/web", "spec", "template", "spec", "containers")
		return containers.([]any)[0].(map[string]any)["image"]
	}
	for _, test := range []struct{ name, flag, want, image string }{
		{"to the one before", "--to-revision=0", "cloneset.apps.kruise.io/web rolled back\n", "nginx:3"},
		{"to a number", "--to-revision=1", "cloneset.apps.kruise.io/web rolled back\n", "nginx:1"},
		{"to where it is", "--to-revision=3", "cloneset.apps.kruise.io/web skipped rollback (current template already matches revision 3)\n", "nginx:2"},
		{"to none", "--to-revision=9", "error: unable to find specified revision 9 in history\nexit code 1\n", "nginx:2"},
		{"only asked", "--dry-run=server", "cloneset.apps.kruise.io/web rolled back (server dry run)\n", "nginx:2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			withHistory(c, cloneset(", updateStrategy: {paused: true}", ""))
			c.expect(test.want, "rollout", "undo", "cloneset/web", test.flag)
			if got := image(c); got != test.image {
				t.Errorf("the image is %s, want %s", got, test.image)
			}
			if got := c.field("clonesets.apps.kruise.io/web", "spec", "unheardOf"); got != "stays" {
				t.Errorf("a field of the spec is %v", got)
			}
		})
	}
}

// An update that the controller has not seen yet is undone to the newest revision. (KC-6)
func TestUndoAtOnce(t *testing.T) {
	c := newCluster(t)
	withHistory(c, strings.Replace(cloneset("", ""), "nginx:2", "nginx:4", 1))
	c.expect("cloneset.apps.kruise.io/web rolled back\n", "rollout", "undo", "cloneset/web")
	c.expect("cloneset.apps.kruise.io/web skipped rollback (current template already matches revision 3)\n", "rollout", "undo", "cloneset/web", "--to-revision=3")
}

// A manifest that is applied again takes an undo back, which kubectl warns of, in its own name.
func TestUndoOfApplied(t *testing.T) {
	c := newCluster(t)
	withHistory(c, strings.Replace(cloneset("", ""), "labels: {app: web}", `labels: {app: web}, annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}"}`, 1))
	if got := c.run("rollout", "undo", "cloneset/web"); !strings.Contains(got, "managed with 'kubectl apply'") || !strings.Contains(got, "web rolled back\n") {
		t.Errorf("it says\n%s", got)
	}
}

// The commands work with the version of the API server, whichever it is. (KC-1)
func TestVersions(t *testing.T) {
	for _, versions := range [][]string{{"v1alpha1"}, {"v1beta1"}, {"v1beta1", "v1alpha1"}, {"v2"}} {
		for _, kind := range []string{"CloneSet", "StatefulSet", "DaemonSet"} {
			t.Run(strings.Join(versions, " and ")+" "+kind, func(t *testing.T) {
				c := newCluster(t, versions...)
				document := strings.Replace(cloneset("", "observedGeneration: 1, replicas: 5, desiredNumberScheduled: 5, updatedNumberScheduled: 1, expectedUpdatedReplicas: 5"), "CloneSet", kind, 1)
				withHistory(c, strings.Replace(document, "v1alpha1", versions[0], 1))
				resource := strings.ToLower(kind) + "s.apps.kruise.io"
				name := strings.ToLower(kind) + ".apps.kruise.io/web"
				for _, line := range []struct{ verb, want string }{
					{"status --watch=false", "out of 5 new pods have been updated"},
					{"history", "3         to nginx:2"},
					{"undo", name + " rolled back\n"},
					{"restart", name + " restarted\n"},
					{"pause", name + " paused\n"},
					{"pause", "is already paused"},
					{"restart", "can't restart paused"},
					{"resume", name + " resumed\n"},
					{"resume", "is not paused"},
				} {
					args := append([]string{"rollout"}, strings.Fields(line.verb)...)
					if got := c.run(append(args, resource+"/web")...); !strings.Contains(got, line.want) {
						t.Errorf("%s gives\n%swant\n%s", line.verb, got, line.want)
					}
				}
				if got := c.field(resource+"/web", "spec", "unheardOf"); got != "stays" {
					t.Errorf("a field of the spec is %v", got)
				}
			})
		}
	}
}

// (KC-7, KC-8)
func TestPauseAndRestart(t *testing.T) {
	c := newCluster(t)
	c.create(cloneset("", ""))
	c.run("rollout", "restart", "cloneset", "--selector=app=web")
	if got := c.field("clonesets.apps.kruise.io/web", "spec", "template", "metadata", "annotations"); fmt.Sprint(got) != "map[kubectl.kubernetes.io/restartedAt:2026-03-01T12:00:00Z]" {
		t.Errorf("annotations of the template are %v", got)
	}
	c.run("rollout", "pause", "cloneset/web")
	if got := c.field("clonesets.apps.kruise.io/web", "spec", "updateStrategy", "paused"); got != true {
		t.Errorf("paused is %v", got)
	}
	c.create(strings.Replace(kindOf("UnitedDeployment", "", ""), template("nginx:2"), `{"cloneSetTemplate":{"spec":{"template":`+template("nginx:2")+`}}}`, 1))
	c.expect("uniteddeployment.apps.kruise.io/web restarted\n", "rollout", "restart", "uniteddeployment/web")
	c.expect("error: uniteddeployments.apps.kruise.io \"web\" pausing is not supported\nexit code 1\n", "rollout", "pause", "uniteddeployment/web")
}
