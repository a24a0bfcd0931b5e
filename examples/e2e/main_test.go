package e2e

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/cluster"
	"github.com/podwright/podwright/examples/manager/app"
	"github.com/podwright/podwright/workloads/client"
)

// What all tests share: a control plane, clients of it, and a manager that is a process of its own. Tests that hold one of
// these up are not parallel, so they run before all others, one by one.
var (
	control   *cluster.Cluster
	core      kubernetes.Interface
	workloads client.Interface
	untyped   dynamic.Interface
	manager   *process
)

const (
	// patience is how long a test waits for something that takes a few seconds on an idle machine.
	patience = 90 * time.Second
	// startDelay is how long a container takes to start.
	startDelay = 500 * time.Millisecond
	// managerEnv makes this test binary a manager.
	managerEnv = "PODWRIGHT_E2E_MANAGER"
)

func TestMain(m *testing.M) {
	if os.Getenv(managerEnv) != "" {
		// Standard input ends when the tests do, however they do.
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			os.Exit(3)
		}()
		os.Exit(app.Main(os.Args[1:]))
	}
	flag.Parse()
	parallelByDefault()
	os.Exit(run(m))
}

// parallelByDefault runs many tests at once: they wait most of the time.
func parallelByDefault() {
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", "12")
	}
}

func run(m *testing.M) int {
	if err := setUp(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		tearDown()
		return 1
	}
	defer tearDown()
	return m.Run()
}

func setUp(ctx context.Context) (err error) {
	control, err = cluster.Start(ctx, cluster.Options{StartDelay: new(startDelay), Log: os.Stderr})
	if err != nil {
		return err
	}
	if core, err = kubernetes.NewForConfig(control.Config()); err != nil {
		return err
	}
	if workloads, err = client.NewForConfig(control.Config()); err != nil {
		return err
	}
	if untyped, err = dynamic.NewForConfig(control.Config()); err != nil {
		return err
	}
	if manager, err = newManager("manager", "--leader-elect=false"); err != nil {
		return err
	}
	if err := manager.start(); err != nil {
		return err
	}
	if err := webhooksAreCalled(ctx); err != nil {
		return fmt.Errorf("%w\nthe end of the manager's log:\n%s", err, manager.logTail(""))
	}
	return nil
}

func tearDown() {
	if manager != nil {
		manager.kill()
	}
	if control != nil {
		if err := control.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// webhooksAreCalled waits until the API server has heard of the CRDs and of the webhooks.
func webhooksAreCalled(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		set, err := workloads.CloneSets("default").Create(ctx, cloneSet("asked", 1),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && set.Spec.RevisionHistoryLimit != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the webhooks to be called: %w: the last answer was %v, with the spec %+v", ctx.Err(), err, set.Spec)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
