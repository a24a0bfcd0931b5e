package realnodes

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/cluster"
	"github.com/podwright/podwright/examples/nodeagent/app"
	"github.com/podwright/podwright/examples/testbed"
	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/v1alpha1"
)

// shared is the cluster of all tests; each uses pods of its own. The account is
// that of the agents, with the rights that they state.
var (
	shared  *cluster.Cluster
	client  kubernetes.Interface
	account *cluster.Account
)

// agentUser is the name of the account.
const agentUser = "system:serviceaccount:" + app.Namespace + ":podwright-nodeagent"

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if missing := cluster.RealNodesMissing(); len(missing) > 0 {
		fmt.Printf("the tests of the node agent on a real node did not run: %v\n", &cluster.MissingError{Missing: missing})
		return 0
	}
	c, err := cluster.Start(context.Background(), cluster.Options{RealNodes: 1, Audit: true, AuditUsers: []string{agentUser}, Log: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	shared, client = c, kubernetes.NewForConfigOrDie(c.Config())
	code, err := runWithRights(m)
	if err = errors.Join(err, c.Stop()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// runWithRights gives the agents their account, and compares at the end what they
// have asked with their rights.
func runWithRights(m *testing.M) (code int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	config := app.NewConfig(func(string) string { return "" })
	manifest, err := app.Manifest(config)
	if err != nil {
		return 1, err
	}
	if account, err = shared.Account(ctx, manifest); err != nil {
		return 1, err
	}
	code = m.Run()
	rights, err := app.Permissions(config)
	if err != nil {
		return 1, err
	}
	return code, testbed.CheckRights(shared.AuditLog(), testbed.NewJudge("podwright-nodeagent", agentUser, rights), nil)
}

// patience is how long a test waits for something that should happen in some seconds.
const patience = 90 * time.Second

// runAgent runs an agent on the real node until the function that it returns is
// called, or the test ends.
func runAgent(t *testing.T) (stop func()) {
	t.Helper()
	config := app.NewConfig(func(string) string { return "" })
	node := shared.RealNodes()[0]
	config.Kubeconfig, config.NodeName, config.Endpoint, config.HealthAddr = account.Kubeconfig, node.Name, node.CRISocket, "0"
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- app.Run(ctx, config) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the agent ends with %v", err)
		}
	}
	t.Cleanup(stop)
	return stop
}

// await waits until a pod satisfies want, and returns it.
func await(t *testing.T, pod *corev1.Pod, what string, want func(*corev1.Pod) bool) *corev1.Pod {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		now, err := client.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, metav1.GetOptions{})
		if err == nil && want(now) {
			return now
		}
		select {
		case <-ctx.Done():
			t.Fatalf("after %s pod %s is not %s: annotations %v, status %v, error %v", patience, pod.Name, what, now.Annotations, now.Status.ContainerStatuses, err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// report returns what the agent says of the container main.
func report(pod *corev1.Pod) v1alpha1.RuntimeContainer {
	var meta v1alpha1.RuntimeContainersMeta
	_ = json.Unmarshal([]byte(pod.Annotations[v1alpha1.RuntimeContainersMetaAnnotation]), &meta)
	for _, c := range meta.Containers {
		if c.Name == "main" {
			return c
		}
	}
	return v1alpha1.RuntimeContainer{}
}

// reported tells whether the report is about the container in the status, in full.
func reported(pod *corev1.Pod) bool {
	r := report(pod)
	for _, status := range pod.Status.ContainerStatuses {
		if status.Name == "main" && status.ContainerID != "" && status.ContainerID == r.ContainerID {
			return r.Hashes.ExtractedEnvFromMetadataHash != 0
		}
	}
	return false
}

// complete tells whether a controller of workloads takes the update of the pod
// for complete.
func complete(pod *corev1.Pod) bool {
	done, _, err := inplace.Complete(pod)
	return done && err == nil
}

// update begins an in-place update, as a controller of workloads does.
func update(t *testing.T, pod *corev1.Pod, version string) {
	t.Helper()
	patch := func(data any, subresource ...string) {
		t.Helper()
		body, err := json.Marshal(data)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.CoreV1().Pods(pod.Namespace).Patch(t.Context(), pod.Name, types.StrategicMergePatchType, body, metav1.PatchOptions{}, subresource...); err != nil {
			t.Fatal(err)
		}
	}
	patch(map[string]any{"status": map[string]any{"conditions": []corev1.PodCondition{{Type: v1alpha1.InPlaceUpdateReady, Status: corev1.ConditionFalse}}}}, "status")
	state, err := json.Marshal(v1alpha1.State{Revision: version, UpdateTimestamp: metav1.Now(), UpdateEnvFromMetadata: true})
	if err != nil {
		t.Fatal(err)
	}
	patch(map[string]any{"metadata": map[string]any{"annotations": map[string]string{"version": version, v1alpha1.StateAnnotation: string(state)}}})
}
