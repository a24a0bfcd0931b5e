// SPDX-License-Identifier: Apache-2.0

package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/podwright/podwright/internal/testing/fakecluster"
)

// audience is what a command writes to: whenever it has written, the next thing happens.
type audience struct {
	strings.Builder
	then []func()
}

func (a *audience) Write(p []byte) (int, error) {
	n, err := a.Builder.Write(p)
	if len(a.then) > 0 {
		next := a.then[0]
		a.then = a.then[1:]
		next()
	}
	return n, err
}

// watch runs a command that things happen to while it watches, one after each line that it prints.
func (c *cluster) watch(args []string, then ...func()) string {
	c.t.Helper()
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	out := &audience{then: then}
	streams.Out = out
	ended := c.execute(streams, args...)
	if len(out.then) > 0 {
		c.t.Errorf("%d things have not happened: the command ended before", len(out.then))
	}
	return out.String() + errOut.String() + ended
}

// progressing returns a function that writes the numbers of a status, beside those that a kind of workload needs.
func progressing(c *cluster, object string, also map[string]any) func(updated, ready int) func() {
	return func(updated, ready int) func() {
		return func() {
			status := map[string]any{"updatedReplicas": updated, "updatedReadyReplicas": ready, "readyReplicas": ready,
				"updatedNumberScheduled": updated, "numberAvailable": ready, "updatedPods": updated, "updatedReadyPods": ready}
			for field, value := range also {
				status[field] = value
			}
			c.patch(object, map[string]any{"status": status})
		}
	}
}

// A rollout that goes on while it is watched is told of line by line, until it is over. (KC-4)
func TestWatchToTheEnd(t *testing.T) {
	for _, test := range []struct {
		kind, words, resource, end string
	}{
		{"CloneSet", "cloneset", "clonesets.apps.kruise.io", "cloneset \"web\" successfully rolled out\n"},
		{"StatefulSet", "statefulset", "statefulsets.apps.kruise.io", "statefulset \"web\" successfully rolled out\n"},
		{"DaemonSet", "daemon set", "daemonsets.apps.kruise.io", "daemon set \"web\" successfully rolled out\n"},
		{"UnitedDeployment", "united deployment", "uniteddeployments.apps.kruise.io", "united deployment \"web\" successfully rolled out\n"},
	} {
		t.Run(test.kind, func(t *testing.T) {
			c := newCluster(t)
			object := test.resource + "/web"
			c.create(kindOf(test.kind, "", "observedGeneration: 0"))
			to := progressing(c, object, map[string]any{"observedGeneration": 1, "replicas": 5, "expectedUpdatedReplicas": 5, "desiredNumberScheduled": 5, "currentNumberScheduled": 5})
			waiting := fmt.Sprintf("Waiting for %s \"web\" rollout to finish: ", test.words)
			want := fmt.Sprintf("Waiting for %s spec update to be observed...\n", test.words) +
				waiting + "0 out of 5 new pods have been updated...\n" +
				waiting + "3 out of 5 new pods have been updated...\n" +
				waiting + "4 of 5 updated pods are available...\n" + test.end
			got := c.watch([]string{"rollout", "status", object, "--timeout=1m"}, to(0, 0), to(3, 2), to(5, 4), to(5, 5))
			if got != want {
				t.Errorf("it says\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// A watch that ends otherwise ends with 1, and says why. (KC-4)
func TestWatchToABadEnd(t *testing.T) {
	const line = "Waiting for cloneset \"web\" rollout to finish: 2 out of 5 new pods have been updated...\n"
	status := "observedGeneration: 1, replicas: 5, expectedUpdatedReplicas: 5, updatedReplicas: 2, updateRevision: web-2"
	object := "clonesets.apps.kruise.io/web"
	for _, test := range []struct {
		name, flags string
		then        func(c *cluster)
		want        string
	}{
		{"superseded", "--revision=2", func(c *cluster) { c.patch(object, map[string]any{"status": map[string]any{"updateRevision": "web-3"}}) },
			"error: desired revision (2) is different from the running revision (3)\nexit code 1\n"},
		{"its revision is gone", "--revision=2", func(c *cluster) { c.patch(object, map[string]any{"status": map[string]any{"updateRevision": "web-9"}}) },
			"error: revision web-9 of cloneset \"web\" is gone\nexit code 1\n"},
		{"deleted", "--timeout=1m", func(c *cluster) {
			client, name := c.named(object)
			if err := client.Namespace("default").Delete(context.Background(), name, metav1.DeleteOptions{}); err != nil {
				c.t.Error(err)
			}
		}, "error: object has been deleted\nexit code 1\n"},
		{"it goes on, and not to the end in time", "--timeout=500ms", func(c *cluster) { progressing(c, object, nil)(4, 4)() },
			strings.Replace(line, "2 out", "4 out", 1) + "error: timed out waiting for the condition\nexit code 1\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCluster(t)
			withHistory(c, cloneset("", status))
			got := c.watch([]string{"rollout", "status", "cloneset/web", test.flags}, func() { test.then(c) })
			if got != line+test.want {
				t.Errorf("it says\n%s\nwant\n%s", got, line+test.want)
			}
		})
	}
}

// A watch whose connection is lost is made again. (KC-4)
func TestWatchAgain(t *testing.T) {
	c := newCluster(t)
	object := "clonesets.apps.kruise.io/web"
	c.create(cloneset("", "observedGeneration: 1, replicas: 5, expectedUpdatedReplicas: 5, updatedReplicas: 2"))
	var once sync.Once
	c.server.FailBefore(func(r fakecluster.Request) (err error) {
		if r.User == "user" && r.Verb == "watch" {
			once.Do(func() { err = errors.New("connection reset by peer") })
		}
		return err
	})
	got := c.watch([]string{"rollout", "status", object, "--timeout=1m"}, progressing(c, object, nil)(5, 5))
	if !strings.HasSuffix(got, "cloneset \"web\" successfully rolled out\n") {
		t.Errorf("it says\n%s", got)
	}
}
