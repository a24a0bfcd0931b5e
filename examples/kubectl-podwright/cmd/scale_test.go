// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"fmt"
	"strings"
	"testing"
)

// Scaling goes to the scale subresource, in the version of the API server. (KC-10)
func TestScale(t *testing.T) {
	c := newCluster(t)
	c.create(cloneset("", ""))
	c.run("scale", "--replicas=3", "cloneset/web")
	var asked []string
	for _, r := range c.server.Requests("user") {
		asked = append(asked, r.String())
	}
	if got := strings.Join(asked, ", "); !strings.HasSuffix(got, "patch clonesets/scale") {
		t.Errorf("the requests are %s", got)
	}
}

// members creates a CloneSet and pods of it, and one without an owner.
func members(c *cluster, spec string) {
	set := c.create(cloneset(spec, ""))
	for _, name := range []string{"web-a", "web-b", "web-c"} {
		c.create(fmt.Sprintf(`
apiVersion: v1
kind: Pod
metadata: {name: %s, ownerReferences: [{apiVersion: apps.kruise.io/v1alpha1, kind: CloneSet, name: web, uid: %s, controller: true}]}
spec: {containers: [{name: main, image: "nginx:2"}]}`, name, set.GetUID()))
	}
	c.create("{apiVersion: v1, kind: Pod, metadata: {name: other}, spec: {containers: [{name: main, image: x}]}}")
}

// (KC-11)
func TestScaledown(t *testing.T) {
	const said = "cloneset.apps.kruise.io/web scaled down"
	for _, test := range []struct {
		name, spec, args, want string
		replicas               int64
		named                  string
	}{
		{"two", "", "--pods=web-a,web-c", said + "\n", 3, "[web-a web-c]"},
		{"beside others", ", scaleStrategy: {podsToDelete: [web-b], maxUnavailable: 1}", "--pods=web-a", said + "\n", 4, "[web-b web-a]"},
		{"named already", ", scaleStrategy: {podsToDelete: [web-b]}", "--pods=web-b", "error: pod web-b is to be deleted already\nexit code 1\n", 5, "[web-b]"},
		{"named twice", "", "--pods=web-b,web-b", "error: pod web-b is to be deleted already\nexit code 1\n", 5, "<nil>"},
		{"of another workload", "", "--pods=web-a,other", "error: pod other is not controlled by cloneset web\nexit code 1\n", 5, "<nil>"},
		{"unknown", "", "--pods=ghost", "Error from server (NotFound): pods \"ghost\" not found\nexit code 1\n", 5, "<nil>"},
		{"asked only", "", "--pods=web-a --dry-run=server", said + " (server dry run)\n", 5, "<nil>"},
		{"asked only here", "", "--pods=web-a --dry-run=client", said + " (dry run)\n", 5, "<nil>"},
		{"none", "", "", "error: --pods is required\nSee 'kubectl podwright scaledown -h' for help and examples\nexit code 1\n", 5, "<nil>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			members(c, test.spec)
			c.expect(test.want, append([]string{"scaledown", "cloneset/web"}, strings.Fields(test.args)...)...)
			replicas := c.field("clonesets.apps.kruise.io/web", "spec", "replicas")
			named := fmt.Sprint(c.field("clonesets.apps.kruise.io/web", "spec", "scaleStrategy", "podsToDelete"))
			if replicas != test.replicas || named != test.named {
				t.Errorf("replicas are %v, pods to delete %v, want %v and %v", replicas, named, test.replicas, test.named)
			}
		})
	}
	c := newCluster(t)
	c.create(kindOf("StatefulSet", "", ""))
	c.expect("error: cannot scale a StatefulSet down by the names of pods: only clonesets can\nexit code 1\n", "scaledown", "asts/web", "--pods=web-0")
}

// (KC-12)
func TestExpose(t *testing.T) {
	c := newCluster(t)
	c.create(strings.Replace(cloneset("", ""), `"name":"main"`, `"name":"main","ports":[{"containerPort":8000},{"containerPort":53,"protocol":"UDP"}]`, 1))
	c.expect("service/web exposed\n", "expose", "cloneset/web", "--port=80", "--target-port=8000")
	if got := fmt.Sprint(c.field("services/web", "spec", "selector"), c.field("services/web", "spec", "ports")); got != "map[app:web] [map[port:80 protocol:TCP targetPort:8000]]" {
		t.Errorf("the service is %s", got)
	}
	c.expect("service/all exposed\n", "expose", "cloneset/web", "--name=all")
	if got := fmt.Sprint(c.field("services/all", "spec", "ports")); got != "[map[name:port-1 port:53 protocol:UDP targetPort:53] map[name:port-2 port:8000 protocol:TCP targetPort:8000]]" {
		t.Errorf("the ports are %s", got)
	}
	c = newCluster(t)
	c.create(strings.Replace(cloneset("", ""), "selector: {matchLabels: {app: web}}", "selector: {matchExpressions: [{key: app, operator: Exists}]}", 1))
	if got := c.run("expose", "cloneset/web", "--port=80"); !strings.Contains(got, "couldn't convert expressions") {
		t.Errorf("a selector with expressions gives\n%s", got)
	}
	c.create(kindOf("StatefulSet", "", ""))
	c.expect("error: cannot expose a StatefulSet.apps.kruise.io\nexit code 1\n", "expose", "asts/web", "--port=80")
}

// (KC-13)
func TestAutoscale(t *testing.T) {
	for _, version := range []string{"v1alpha1", "v1beta1"} {
		c := newCluster(t, version)
		c.create(strings.Replace(cloneset("", ""), "v1alpha1", version, 1))
		c.expect("horizontalpodautoscaler.autoscaling/web autoscaled\n", "autoscale", "cloneset/web", "--max=10", "--cpu=80%")
		if got := fmt.Sprint(c.field("horizontalpodautoscalers/web", "spec", "scaleTargetRef")); got != "map[apiVersion:apps.kruise.io/"+version+" kind:CloneSet name:web]" {
			t.Errorf("the target is %s", got)
		}
		c.create(strings.Replace(kindOf("DaemonSet", "", ""), "v1alpha1", version, 1))
		if got := c.run("autoscale", "ads/web", "--max=10"); !strings.Contains(got, "cannot autoscale a DaemonSet") {
			t.Errorf("a daemon set gives\n%s", got)
		}
	}
}
