// SPDX-License-Identifier: Apache-2.0

// Command startload measures what an API server pays for agents that start at once, as after an update of their DaemonSet that
// nothing holds back:
//
//	go run ./nodeagent/startload -agents 500 -pods 20
//
// It starts a control plane with pods and NodeImages, then the informers of so many agents in one process. Each has a
// connection of its own, and the account that agents have. It prints what that took. Of an agent it plays what it reads
// at its start; runtimes and features there are none.
package main

import (
	"context"
	cryptorand "crypto/rand"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/distribution"
	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/nodeagent/app"
	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/lifecycle"
)

func main() {
	var o options
	flag.IntVar(&o.agents, "agents", 500, "number of agents")
	flag.IntVar(&o.pods, "pods", 20, "pods of a node")
	flag.DurationVar(&o.spread, "spread", 0, "time over which the starts are spread by chance")
	flag.Parse()
	klog.SetLogger(logr.Discard())
	if err := o.run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type options struct {
	agents, pods int
	spread       time.Duration
}

func (o *options) run(ctx context.Context, out io.Writer) error {
	control, err := cluster.Start(ctx, cluster.Options{Nodes: -1, Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { _ = control.Stop() }()
	account, err := o.prepare(ctx, control)
	if err != nil {
		return err
	}
	core, err := kubernetes.NewForConfig(control.Config())
	if err != nil {
		return err
	}
	server := &server{core.CoreV1().RESTClient()}
	before, err := server.measure(ctx)
	if err != nil {
		return err
	}
	begin := time.Now()
	agents, err := o.start(ctx, account)
	if err != nil {
		return err
	}
	took := time.Since(begin)
	after, err := server.measure(ctx)
	if err != nil {
		return err
	}
	var requests, received, longest = 0, int64(0), time.Duration(0)
	for _, agent := range agents {
		requests, received, longest = requests+int(agent.requests.Load()), received+agent.received.Load(), max(longest, agent.took)
	}
	n := float64(o.agents)
	fmt.Fprintf(out, "%d agents of %d pods each, spread over %s: all have read what there is after %.1fs, the slowest in %.1fs\n",
		o.agents, o.pods, o.spread, took.Seconds(), longest.Seconds())
	fmt.Fprintf(out, "an agent: %.1f requests, %.1f of them watches that stay, %.0f KiB received\n",
		float64(requests)/n, (after.watches-before.watches)/n, float64(received)/n/1024)
	fmt.Fprintf(out, "the API server: %.1f ms CPU an agent, %.0f KiB memory an agent, %.0f requests refused\n",
		(after.cpu-before.cpu)/n*1000, (after.memory-before.memory)/n/1024, after.refused-before.refused)
	return nil
}

// start starts all agents, and returns when they have read what there is.
func (o *options) start(ctx context.Context, account *cluster.Account) ([]*agent, error) {
	agents := make([]*agent, o.agents)
	starting, ctx := errgroup.WithContext(ctx)
	for i := range agents {
		config, err := clientcmd.BuildConfigFromFlags("", account.Kubeconfig)
		if err != nil {
			return nil, err
		}
		if agents[i], err = newAgent(config, nodeName(i), o.pods); err != nil {
			return nil, err
		}
		starting.Go(func() error {
			if o.spread > 0 {
				time.Sleep(rand.N(o.spread))
			}
			return agents[i].start(context.WithoutCancel(ctx))
		})
	}
	return agents, starting.Wait()
}

func nodeName(i int) string { return fmt.Sprintf("node-%d.example.com", i) }

// prepare makes what agents read, and returns their account.
func (o *options) prepare(ctx context.Context, control *cluster.Cluster) (*cluster.Account, error) {
	// They would remove pods of nodes that do not exist.
	for _, component := range []string{cluster.ControllerManager, cluster.Scheduler, cluster.Kwok} {
		if err := control.Kill(component); err != nil {
			return nil, err
		}
	}
	config := control.Config()
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	if err := crds.Install(ctx, objects, append(distribution.CRDs(), lifecycle.CRDs()...)); err != nil {
		return nil, err
	}
	manifest, err := app.Manifest(app.NewConfig(func(string) string { return "" }))
	if err != nil {
		return nil, err
	}
	core, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	images, err := distributionclient.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	creating, ctx2 := errgroup.WithContext(ctx)
	creating.SetLimit(32)
	for i := range o.agents {
		creating.Go(func() error {
			_, err := images.NodeImages().Create(ctx2, nodeImage(nodeName(i)), metav1.CreateOptions{})
			return err
		})
		for n := range o.pods {
			creating.Go(func() error {
				_, err := core.CoreV1().Pods("default").Create(ctx2, pod(nodeName(i), fmt.Sprintf("web-%d-%d", i, n)), metav1.CreateOptions{})
				return err
			})
		}
	}
	if err := creating.Wait(); err != nil {
		return nil, err
	}
	return control.Account(ctx, manifest)
}

// pod is of the size that pods have, about 4 KiB, and does not get much smaller when it is compressed.
func pod(node, name string) *corev1.Pod {
	container := func(name string) corev1.Container {
		c := corev1.Container{Name: name, Image: "registry.example.com/shop/" + name + ":1.2.3"}
		for i := range 15 {
			c.Env = append(c.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: cryptorand.Text()})
		}
		return c
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{NodeName: node, Containers: []corev1.Container{container("main"), container("side")}},
	}
}

// nodeImage has ten images that were pulled.
func nodeImage(node string) *distributionv1alpha1.NodeImage {
	n := &distributionv1alpha1.NodeImage{ObjectMeta: metav1.ObjectMeta{Name: node}}
	n.Spec.Images = map[string]distributionv1alpha1.ImageSpec{}
	for i := range 10 {
		n.Spec.Images[fmt.Sprintf("registry.example.com/shop/image-%d", i)] = distributionv1alpha1.ImageSpec{Tags: []distributionv1alpha1.ImageTagSpec{{
			Tag: "1.2.3", CreatedAt: new(metav1.Now()), PullPolicy: &distributionv1alpha1.ImageTagPullPolicy{TTLSecondsAfterFinished: new(int32(3600))},
		}}}
	}
	return n
}
