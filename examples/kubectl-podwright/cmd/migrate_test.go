// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {team: a}, annotations: {deployment.kubernetes.io/revision: "4", contact: b}}
spec:
  replicas: 3
  minReadySeconds: 5
  selector: {matchLabels: {app: web}}
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: main, image: "nginx:1"}]}}
status: {observedGeneration: 1, replicas: 3, readyReplicas: 3}`

// (KC-14)
func TestMigrateCreate(t *testing.T) {
	for _, test := range []struct {
		flag     string
		replicas int
	}{{"--create", 0}, {"--create --copy", 3}} {
		c := newCluster(t)
		c.create(deployment)
		c.expect("cloneset.apps.kruise.io/new created\n", append(strings.Fields("migrate CloneSet --from Deployment --src-name=web --dst-name=new"), strings.Fields(test.flag)...)...)
		spec, _ := json.Marshal(c.field("clonesets.apps.kruise.io/new", "spec"))
		want := fmt.Sprintf(`{"minReadySeconds":5,"replicas":%d,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},`+
			`"spec":{"containers":[{"image":"nginx:1","name":"main","resources":{}}]}},"updateStrategy":{"maxSurge":1,"maxUnavailable":0}}`, test.replicas)
		if string(spec) != want {
			t.Errorf("%s: the spec is\n%s\nwant\n%s", test.flag, spec, want)
		}
		if got := fmt.Sprint(c.field("clonesets.apps.kruise.io/new", "metadata", "annotations")); got != "map[contact:b]" {
			t.Errorf("the annotations are %s", got)
		}
	}
}

// obeyed has both workloads reach, before every look at them, what they are to be.
func obeyed(c *cluster) {
	c.server.FailBefore(func(r fakecluster.Request) error {
		if r.User != "user" || r.Verb != "get" {
			return nil
		}
		object := map[string]string{"clonesets": "clonesets.apps.kruise.io", "deployments": "deployments.apps"}[r.Resource] + "/" + r.Name
		replicas := c.field(object, "spec", "replicas")
		c.patch(object, map[string]any{"status": map[string]any{"observedGeneration": c.field(object, "metadata", "generation"), "replicas": replicas, "readyReplicas": replicas}})
		return nil
	})
}

// (KC-14)
func TestMigrateMove(t *testing.T) {
	for _, test := range []struct {
		flags, want  string
		clones, left int64
	}{
		{"", "1 of 3 replicas moved\n2 of 3 replicas moved\n3 of 3 replicas moved\n", 3, 0},
		{"--max-surge=2", "2 of 3 replicas moved\n3 of 3 replicas moved\n", 3, 0},
		{"--replicas=1", "1 of 1 replicas moved\n", 1, 2},
		{"--replicas=4", "error: cannot move 4 replicas: deployment web has 3\nexit code 1\n", 0, 3},
		{"--max-surge=0", "error: --max-surge must be 1 or more, not 0\nexit code 1\n", 0, 3},
		{"--copy", "error: --copy goes with --create\nexit code 1\n", 0, 3},
	} {
		t.Run(test.flags, func(t *testing.T) {
			c := newCluster(t)
			c.create(deployment)
			c.create(strings.Replace(cloneset("", ""), "replicas: 5", "replicas: 0", 1))
			obeyed(c)
			c.expect(test.want, append(strings.Fields("migrate CloneSet --from Deployment --src-name=web"), strings.Fields(test.flags)...)...)
			clones, left := c.field("clonesets.apps.kruise.io/web", "spec", "replicas"), c.field("deployments/web", "spec", "replicas")
			if clones != test.clones || left != test.left {
				t.Errorf("the replicas are %v and %v, want %d and %d", clones, left, test.clones, test.left)
			}
		})
	}
}

// Pods that do not become ready cost no pod of the Deployment. (KC-14)
func TestMigrateNotReady(t *testing.T) {
	c := newCluster(t)
	c.create(deployment)
	c.create(strings.Replace(cloneset("", ""), "replicas: 5", "replicas: 0", 1))
	c.expect("error: 0 of 3 replicas are moved: context deadline exceeded\nexit code 1\n",
		strings.Fields("migrate CloneSet --from Deployment --src-name=web --timeout-seconds=1")...)
	if left := c.field("deployments/web", "spec", "replicas"); left != int64(3) {
		t.Errorf("the Deployment has %v replicas", left)
	}
}
