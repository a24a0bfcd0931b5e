// SPDX-License-Identifier: Apache-2.0

package kubeletpods

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	podsv1alpha1 "k8s.io/kubelet/pkg/apis/pods/v1alpha1"

	"github.com/podwright/podwright/internal/testing/fakecri"
)

// The informer has what the kubelet has, and learns what it tells.
func TestInformer(t *testing.T) {
	n := start(t, newPod("web-0", "1", false), newPod("web-1", "1", false))
	if n.version("web-0") != "1" || n.version("web-1") != "1" {
		t.Fatalf("listed %v", n.informer.GetStore().ListKeys())
	}
	n.set(newPod("web-0", "2", false))
	n.until("the change", n.has("web-0", "2"))
	n.change(newPod("web-2", "1", false), podsv1alpha1.EventType_ADDED)
	n.until("the new pod", n.has("web-2", "1"))
	n.change(&corev1.Pod{ObjectMeta: newPod("web-1", "1", false).ObjectMeta}, podsv1alpha1.EventType_DELETED)
	n.until("the end of the pod", n.has("web-1", ""))
	for _, object := range n.informer.GetStore().List() {
		if version := object.(*corev1.Pod).ResourceVersion; version != "" {
			t.Errorf("a resourceVersion of the kubelet's: %s", version)
		}
	}
}

// Of labels that change the kubelet tells nothing. While they matter, it is asked.
func TestLabelsInAnUpdate(t *testing.T) {
	for name, begins := range map[string]func(*node){
		"an update that is under way at the start": func(*node) {},
		"an update that begins": func(n *node) {
			n.set(newPod("web-0", "1", true))
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, newPod("web-0", "1", name != "an update that begins"))
			begins(n)
			n.quietly(newPod("web-0", "2", true))
			n.until("the label", n.has("web-0", "2"))
			asked := n.timesAsked()
			n.until("more questions", func() bool { return n.timesAsked() > asked+20 }) // for longer than after a change
			n.quietly(newPod("web-0", "3", true))
			n.until("the next label", n.has("web-0", "3"))
		})
	}
}

// What has settled costs nothing: it is asked for a while after each change, and then
// no more.
func TestSettledPods(t *testing.T) {
	n := start(t, newPod("web-0", "1", false), newPod("web-1", "1", false))
	n.set(newPod("web-0", "2", false))
	n.until("the change", n.has("web-0", "2"))
	n.quietly(newPod("web-0", "3", false)) // such as the annotation that an agent has written
	n.until("what came just after it", n.has("web-0", "3"))
	before, steps := -1, 0
	n.until("no more questions", func() bool { // for ten times as long as it may take
		if now := n.timesAsked(); now != before {
			before, steps = now, 0
		}
		steps++
		return steps > 10*int(askAfterChange/askEvery)*10
	})
}

// A stream that ends is followed by another one. What has gone meanwhile is gone.
func TestStreamEnds(t *testing.T) {
	n := start(t, newPod("web-0", "1", false), newPod("web-1", "1", false))
	for range 3 {
		n.lock.Lock()
		delete(n.pods, "uid-web-1")
		n.lock.Unlock()
		n.hangUp()
		n.until("the end of the pod", n.has("web-1", ""))
		n.change(newPod("web-1", "1", false), podsv1alpha1.EventType_ADDED)
		n.until("the pod again", n.has("web-1", "1"))
	}
}

// A socket says nothing of who is behind it.
func TestServes(t *testing.T) {
	_, served := serve(t)
	left := filepath.Join(t.TempDir(), "left.sock")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	runtime := filepath.Join(t.TempDir(), "cri.sock")
	stop, err := fakecri.New(nil).Serve(runtime)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for socket, want := range map[string]bool{served: true, left: false, runtime: false, "/nowhere/pods.sock": false} {
		conn, err := Dial(socket)
		if err != nil {
			t.Fatal(err)
		}
		if got := Serves(t.Context(), conn); got != want {
			t.Errorf("%s serves pods: %v", socket, got)
		}
		conn.Close()
	}
}
