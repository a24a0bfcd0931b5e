// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecri/agents"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// TestStories plays what happens to requests for the pods of a node: see agents.PlayStories. Whatever the clock of the node
// says, the same happens at the same time: each is played with that clock ahead and behind, too. Shown are requests, and the pods with the
// restarts of their containers. The kubelet does not work while time passes by "sleep".
//
//	pod web-0 [hook=bye] [node=node-2]   has the kubelet run a pod with the containers main and side until it is ready
//	manager on, manager off              starts and stops the half of the control plane, which runs at first
//	create r web-0 only=main             creates a request, of all containers if none are named. Further words are those of testdata/words.yaml
//	forge r web-0 named=main:main-1      creates one as a user does if no webhook is called; UID stands for that of the pod
//	alone shop/dns-0, static shop/etcd   has the runtime run a pod that the API server does not have
//	complete r, delete r, delete-pod web-0
//	work 10s                             lets time pass, in which the kubelet works
//	startup 5s                           how long containers take to be ready from now on
//	crash main-1                         ends a container, and starts it again unseen
//	refuse-announcements                 has the API server refuse the agent's writes of metadata
//	replay 1.4.txt                       sends the requests of a manager that were written down; shows the status before each patch
func TestStories(t *testing.T) {
	for _, skew := range []time.Duration{0, -10 * time.Minute, 10 * time.Minute} {
		t.Run(fmt.Sprint("skew ", skew), func(t *testing.T) {
			agents.PlayStories(t, "testdata/stories", func(t *testing.T) *agents.Story {
				n := newSkewedNode(t, skew)
				return &agents.Story{Node: n.Node, Show: n.show, Pause: 100 * time.Millisecond, Further: n.further(),
					Start:     func(workers int) { n.workers = workers; n.start() },
					Unordered: func() bool { return len(n.pods()) > 1 }} // goroutines decide which of them comes first
			})
		})
	}
}

// further are the commands that requests, and pods, have.
func (n *node) further() map[string]func(words []string, text string) {
	return map[string]func([]string, string){
		"pod":    func(words []string, _ string) { n.pod(words[0], words[1:]...) },
		"create": func(words []string, _ string) { n.create(words[0], words[1], words[2:]...) },
		"forge":  func(words []string, _ string) { n.forge(words[0], words[1], words[2:]...) },
		"alone":  func(words []string, _ string) { n.alone(words[0], nil) },
		"static": func(words []string, _ string) {
			n.alone(words[0], map[string]string{"kubernetes.io/config.source": "file"})
		},
		"work":    func(words []string, _ string) { n.work(patches.Duration(n.T, words[0])) },
		"startup": func(words []string, _ string) { n.kubelet.Startup = patches.Duration(n.T, words[0]) },
		"delete": func(words []string, _ string) {
			n.Must(n.requests.Delete(n.Context(), words[0], metav1.DeleteOptions{}))
		},
		"manager": func(words []string, _ string) {
			if n.stopManager(); words[0] == "on" {
				n.stopManager = n.startManager()
			}
		},
		"complete": func(words []string, _ string) {
			r := n.get(words[0])
			r.Status.Phase, r.Status.CompletionTime, r.Status.Message = completed, new(metav1.Now()), "pod has gone"
			_, err := n.requests.UpdateStatus(n.Context(), r, metav1.UpdateOptions{})
			n.Must(err)
		},
		"delete-pod": func(words []string, _ string) {
			n.Must(n.Kube.CoreV1().Pods("default").Delete(n.Context(), words[0], *metav1.NewDeleteOptions(0)))
		},
		"crash": func(words []string, _ string) { // the status of the pod does not say it yet
			n.Runtime.End(words[0], 1)
			n.Must(n.kubelet.Run(n.getPod("web-0")))
			n.Sleep(5 * time.Second)
		},
		"refuse-announcements": func([]string, string) {
			n.FailBefore(func(r fakecluster.Request) error {
				if r.User == n.User() && r.Verb == "patch" && r.Subresource == "" {
					return apierrors.NewForbidden(v1alpha1.Resource("containerrecreaterequests"), "r", nil)
				}
				return nil
			})
		},
		"replay": func(words []string, _ string) { n.replay("testdata/managers/" + words[0]) },
	}
}

func (n *node) pods() []string {
	list, err := n.Server.Pods("default")
	n.Must(err)
	var lines []string
	for i := range list {
		line := "pod " + list[i].Name + ": " + strings.Join(n.restarts(list[i].Name), ", ")
		if !readiness.Ready(&list[i]) {
			line += ", not ready"
		}
		lines = append(lines, line)
	}
	return lines
}

// show shows requests and pods.
func (n *node) show() (lines []string) {
	list, err := n.requests.List(n.Context(), metav1.ListOptions{})
	n.Must(err)
	for i := range list.Items {
		r := &list.Items[i]
		line := r.Name + ": " + showStatus(&r.Status)
		if announced := r.Annotations[announcement]; announced != "" {
			line += "; announced " + announced
		}
		lines = append(lines, line)
	}
	n.checkUIDs(list.Items)
	return append(lines, n.pods()...)
}

// checkUIDs checks that each patch names the UID of its request: another one may have taken the name. (CRR-5.3)
func (n *node) checkUIDs(requests []v1alpha1.ContainerRecreateRequest) {
	n.Helper()
	for _, sent := range n.Server.Requests(n.User()) {
		var patch metav1.PartialObjectMetadata
		if sent.Verb == "patch" {
			n.Must(json.Unmarshal(sent.Body, &patch))
		}
		for i := range requests {
			if r := &requests[i]; sent.Verb == "patch" && sent.Name == r.Name && sent.Namespace == r.Namespace && patch.UID != r.UID {
				n.Errorf("a patch of %s names the UID %q, want %s", r.Name, patch.UID, r.UID)
			}
		}
	}
}

// replay sends the requests of a manager and its webhook, as they were written down, while the node works. It shows the status
// that the agent has written before each patch.
func (n *node) replay(file string) {
	n.Helper()
	patches.Replay(n.T, file, n.work, func(verb, text string) {
		if text = strings.ReplaceAll(text, "UID", string(n.getPod("web-0").UID)); verb == "create" {
			r := &v1alpha1.ContainerRecreateRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "default"}}
			n.Must(json.Unmarshal([]byte(text), r))
			n.send(r)
			return
		}
		n.Tell(showStatus(&n.get("r").Status))
		_, err := n.requests.Patch(n.Context(), "r", types.MergePatchType, []byte(text), metav1.PatchOptions{})
		n.Must(err)
		synctest.Wait()
	})
}
