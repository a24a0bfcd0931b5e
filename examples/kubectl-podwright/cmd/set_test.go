// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// shapes are objects with a pod template in each place that may have one, and the path of the pod spec.
var shapes = map[string]struct {
	document string
	path     string
}{
	"clonesets.apps.kruise.io":         {cloneset("", ""), "spec template spec"},
	"statefulsets.apps.kruise.io":      {kindOf("StatefulSet", "", ""), "spec template spec"},
	"daemonsets.apps.kruise.io":        {kindOf("DaemonSet", "", ""), "spec template spec"},
	"broadcastjobs.apps.kruise.io":     {kindOf("BroadcastJob", "", ""), "spec template spec"},
	"uniteddeployments.apps.kruise.io": {united("cloneSetTemplate"), "spec template cloneSetTemplate spec template spec"},
}

// united is a UnitedDeployment of CloneSets or their like.
func united(of string) string {
	return strings.Replace(kindOf("UnitedDeployment", "", ""), template("nginx:2"), `{"`+of+`":{"spec":{"template":`+template("nginx:2")+`}}}`, 1)
}

// (KC-2, KC-3, KC-9)
func TestSet(t *testing.T) {
	for resource, shape := range shapes {
		for _, test := range []struct{ args, said, container string }{
			{"image {} main=nginx:9", "image updated", `{"image":"nginx:9","name":"main","resources":{},"unheardOf":1}`},
			{"image {} *=nginx:9", "image updated", `{"image":"nginx:9","name":"main","resources":{},"unheardOf":1}`},
			{"env {} COLOUR=red", "env updated", `{"env":[{"name":"COLOUR","value":"red"}],"image":"nginx:2","name":"main","resources":{},"unheardOf":1}`},
			{"resources {} --limits=cpu=2", "resource requirements updated",
				`{"image":"nginx:2","name":"main","resources":{"limits":{"cpu":"2"}},"unheardOf":1}`},
		} {
			t.Run(resource+" "+test.args, func(t *testing.T) {
				c := newCluster(t)
				c.create(strings.Replace(shape.document, `"name":"main"`, `"name":"main","unheardOf":1`, 1))
				name := strings.Replace(resource, "s.", ".", 1) + "/web"
				c.expect(name+" "+test.said+"\n", strings.Fields("set "+strings.ReplaceAll(test.args, "{}", resource+"/web"))...)
				containers := c.field(resource+"/web", append(strings.Fields(shape.path), "containers")...).([]any)
				if got, _ := json.Marshal(containers[0]); string(got) != test.container {
					t.Errorf("the container is\n%s\nwant\n%s", got, test.container)
				}
			})
		}
	}
}

// (KC-9)
func TestSetMore(t *testing.T) {
	c := newCluster(t)
	c.create(cloneset("", ""))
	c.expect("cloneset.apps.kruise.io/web serviceaccount updated\n", "set", "serviceaccount", "cloneset/web", "robot")
	if got := c.field("clonesets.apps.kruise.io/web", "spec", "template", "spec", "serviceAccountName"); got != "robot" {
		t.Errorf("the service account is %v", got)
	}
	c.expect("cloneset.apps.kruise.io/web image updated (server dry run)\n", "set", "image", "cloneset/web", "main=nginx:9", "--dry-run=server")
	c.expect("cloneset.apps.kruise.io/web image updated (dry run)\n", "set", "image", "cloneset/web", "main=nginx:9", "--dry-run=client")
	c.expect("error: unable to find container named \"mane\"\nexit code 1\n", "set", "image", "cloneset/web", "mane=nginx:9")
	c.run("set", "env", "cloneset/web", "A=1", "B=2")
	c.run("set", "env", "cloneset/web", "A-")
	c.expect("# CloneSet web, container main\nB=2\n", "set", "env", "cloneset/web", "--list")
	c.server.ForgetRequests()
	got := c.run("set", "image", "--local", "-f", c.file(cloneset("", "")), "main=nginx:9", "-o", "yaml")
	if !strings.Contains(got, "image: nginx:9") || !strings.Contains(got, "unheardOf: stays") {
		t.Errorf("a manifest becomes\n%s", got)
	}
	if n := len(c.server.Requests("")); n > 0 {
		t.Errorf("a local change makes %d requests", n)
	}
}

// The containers of a SidecarSet are set in place, and keep what only a SidecarSet's have. (KC-9)
func TestSetSidecarSet(t *testing.T) {
	c := newCluster(t)
	set := `
apiVersion: apps.kruise.io/v1alpha1
kind: SidecarSet
metadata: {name: mesh}
spec: {selector: {matchLabels: {app: web}}, containers: [{name: envoy, image: "envoy:1", podInjectPolicy: BeforeAppContainer}]}`
	c.create(set)
	c.expect("sidecarset.apps.kruise.io/mesh image updated\n", "set", "image", "sidecarset/mesh", "envoy=envoy:2")
	if got := c.clusterField("sidecarsets.apps.kruise.io/mesh", "spec"); got != `{"containers":[{"image":"envoy:2","name":"envoy","podInjectPolicy":"BeforeAppContainer"}],"selector":{"matchLabels":{"app":"web"}}}` {
		t.Errorf("the spec is %s", got)
	}
}

// Another writer's write between reading and patching costs another attempt, and is not undone. (KC-3)
func TestPatchConflict(t *testing.T) {
	c := newCluster(t)
	c.create(cloneset("", ""))
	once := false
	c.server.FailBefore(func(r fakecluster.Request) error {
		if r.User == "user" && r.Verb == "patch" && !once {
			once = true
			c.change("clonesets.apps.kruise.io/web", 7, "spec", "replicas")
		}
		return nil
	})
	c.expect("cloneset.apps.kruise.io/web image updated\n", "set", "image", "cloneset/web", "main=nginx:9")
	if got := c.field("clonesets.apps.kruise.io/web", "spec", "replicas"); !once || got != int64(7) {
		t.Errorf("replicas are %v", got)
	}
	c.server.FailBefore(func(r fakecluster.Request) error {
		if r.User == "user" && r.Verb == "patch" {
			return errors.New("the network is gone")
		}
		return nil
	})
	if got := c.run("set", "image", "cloneset/web", "main=nginx:10"); !strings.Contains(got, "the network is gone") {
		t.Errorf("a failure gives\n%s", got)
	}
}
