// SPDX-License-Identifier: Apache-2.0

package deployments

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	defaults "k8s.io/kubernetes/pkg/apis/apps/v1"
	"k8s.io/kubernetes/pkg/controller/deployment"
)

// stories are in a file that TestProgress of CloneSets reads too, and that says how to read it.
const stories = "../../../workloads/cloneset/testdata/progress.txt"

// words are what a CloneSet says for what a Deployment does.
var words = map[string]string{
	"NewReplicaSetCreated": "NewRevisionCreated", "FoundNewReplicaSet": "FoundNewRevision", "ReplicaSetUpdated": "CloneSetUpdated",
	"NewReplicaSetAvailable": "CloneSetAvailable", "DeploymentPaused": "CloneSetPaused", "DeploymentResumed": "CloneSetResumed",
	"ProgressDeadlineExceeded": "ProgressDeadlineExceeded",
}

// TestProgress plays the stories with a Deployment. (CS-S4)
func TestProgress(t *testing.T) {
	data, err := os.ReadFile(stories)
	if err != nil {
		t.Fatal(err)
	}
	_, all, _ := strings.Cut(string(data), "\nstory ")
	played := 0
	for story := range strings.SplitSeq(all, "\nstory ") {
		name, lines, _ := strings.Cut(story, "\n")
		if strings.HasSuffix(strings.TrimSpace(lines), "=> -") { // a Deployment has nothing like it
			continue
		}
		played++
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { play(t, lines) })
		})
	}
	if played < 12 {
		t.Errorf("%d stories are played with a Deployment", played)
	}
}

func play(t *testing.T, lines string) {
	c := start(t)
	for line := range strings.SplitSeq(strings.TrimSpace(lines), "\n") {
		parts := strings.Split(line, "=>")
		do := strings.Fields(parts[0])
		switch do[0] {
		case "spec":
			c.edit(do[1:])
		case "wait":
			d, err := time.ParseDuration(do[1])
			c.must(err)
			time.Sleep(d)
		case "break":
			c.broken = true
		default:
			t.Fatalf("unknown: %s", line)
		}
		c.settle()
		if got, want := c.progress(), strings.TrimSpace(parts[len(parts)-1]); got != want {
			t.Errorf("%s: %s, want %s", parts[0], got, want)
		}
	}
}

// cluster is the controller of Deployments, with one Deployment, and what the controller of ReplicaSets and kubelets do.
type cluster struct {
	*testing.T
	client *fake.Clientset
	// ready is when the pods of a ReplicaSet became ready, oldest first, by name.
	ready  map[string][]time.Time
	broken bool // the pods that there are fail

	lock    sync.Mutex
	version int // of the last write
}

const namespace, name = "default", "web"

func start(t *testing.T) *cluster {
	c := &cluster{T: t, client: fake.NewClientset(), ready: map[string][]time.Time{}}
	c.client.PrependReactor("*", "*", c.store)
	ctx, cancel := context.WithCancel(t.Context())
	factory := informers.NewSharedInformerFactory(c.client, 0)
	controller, err := deployment.NewDeploymentController(ctx, factory.Apps().V1().Deployments(), factory.Apps().V1().ReplicaSets(), factory.Core().V1().Pods(), c.client)
	c.must(err)
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	done := make(chan struct{})
	go func() {
		defer close(done)
		controller.Run(ctx, 1)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		factory.Shutdown()
	})
	return c
}

// store has writes change the resourceVersion, and refuses those of another one, as an API server does.
func (c *cluster) store(action clienttesting.Action) (bool, runtime.Object, error) {
	write, ok := action.(clienttesting.CreateAction) // an update has the same methods
	if !ok || action.GetVerb() != "create" && action.GetVerb() != "update" {
		return false, nil, nil
	}
	object, gvr := write.GetObject().DeepCopyObject(), action.GetResource()
	written, err := meta.Accessor(object)
	if err != nil {
		return true, nil, err
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if action.GetVerb() == "update" {
		stored, err := c.client.Tracker().Get(gvr, action.GetNamespace(), written.GetName())
		if err != nil {
			return true, nil, err
		}
		if before, err := meta.Accessor(stored); err != nil || before.GetResourceVersion() != written.GetResourceVersion() {
			return true, nil, apierrors.NewConflict(gvr.GroupResource(), written.GetName(), err)
		}
	}
	c.version++
	written.SetResourceVersion(strconv.Itoa(c.version))
	if action.GetVerb() == "create" {
		err = c.client.Tracker().Create(gvr, object, action.GetNamespace())
	} else {
		err = c.client.Tracker().Update(gvr, object, action.GetNamespace())
	}
	return true, object, err
}

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// get returns the Deployment; before the first edit, a new one.
func (c *cluster) get() *appsv1.Deployment {
	d, err := c.client.AppsV1().Deployments(namespace).Get(c.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		labels := map[string]string{"app": name}
		d = &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: "1"}}
		d.Spec.Selector, d.Spec.Template.Labels = &metav1.LabelSelector{MatchLabels: labels}, labels
		d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "nginx:1"}}
		defaults.SetObjectDefaults_Deployment(d)
		return d
	}
	c.must(err)
	return d.DeepCopy()
}

// edit changes fields of the spec, each given as key=value.
func (c *cluster) edit(changes []string) {
	d := c.get()
	for _, change := range changes {
		key, value, _ := strings.Cut(change, "=")
		n, _ := strconv.ParseInt(value, 10, 32)
		switch key {
		case "replicas":
			d.Spec.Replicas = new(int32(n))
		case "deadline":
			d.Spec.ProgressDeadlineSeconds = new(int32(n))
		case "minReadySeconds":
			d.Spec.MinReadySeconds = int32(n)
		case "image":
			d.Spec.Template.Spec.Containers[0].Image = value
		case "paused":
			d.Spec.Paused = value == "true"
		default:
			c.Fatalf("unknown field %s", key)
		}
	}
	var err error
	if d.Generation++; d.Generation == 1 {
		_, err = c.client.AppsV1().Deployments(namespace).Create(c.Context(), d, metav1.CreateOptions{})
	} else {
		_, err = c.client.AppsV1().Deployments(namespace).Update(c.Context(), d, metav1.UpdateOptions{})
	}
	c.must(err)
}

// settle lets all controllers act for two seconds.
func (c *cluster) settle() {
	for range 40 {
		time.Sleep(50 * time.Millisecond)
		synctest.Wait()
		c.runReplicaSets()
	}
	synctest.Wait()
}

// runReplicaSets creates, starts and deletes the pods of all ReplicaSets, as far as their status tells.
func (c *cluster) runReplicaSets() {
	all, err := c.client.AppsV1().ReplicaSets(namespace).List(c.Context(), metav1.ListOptions{})
	c.must(err)
	for i := range all.Items {
		rs := all.Items[i].DeepCopy()
		wanted := int(*rs.Spec.Replicas)
		running := c.ready[rs.Name]
		for len(running) < wanted {
			running = append(running, time.Now())
		}
		running = running[:wanted]
		if c.broken || strings.Contains(rs.Spec.Template.Spec.Containers[0].Image, "bad") {
			running = nil
		}
		c.ready[rs.Name] = running
		status := appsv1.ReplicaSetStatus{Replicas: int32(wanted), FullyLabeledReplicas: int32(wanted), ReadyReplicas: int32(len(running)), ObservedGeneration: rs.Generation}
		for _, since := range running {
			if time.Since(since) >= time.Duration(rs.Spec.MinReadySeconds)*time.Second {
				status.AvailableReplicas++
			}
		}
		if equality.Semantic.DeepEqual(status, rs.Status) {
			continue
		}
		rs.Status = status
		_, err := c.client.AppsV1().ReplicaSets(namespace).UpdateStatus(c.Context(), rs, metav1.UpdateOptions{})
		c.must(err)
	}
}

// progress is what the condition Progressing says, in the words of CloneSets.
func (c *cluster) progress() string {
	for _, condition := range c.get().Status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing {
			return fmt.Sprint(condition.Status, " ", cmp.Or(words[condition.Reason], condition.Reason))
		}
	}
	return "none"
}
