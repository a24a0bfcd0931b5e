// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/tests/cluster"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
)

// Patience is how long a test waits for something that takes a few seconds on an idle machine. It measures nothing: a machine
// that is busy with other things takes many times as long.
const Patience = 10 * time.Minute

// Conflicts is for retry.RetryOnConflict: a change that another writer was ahead of is tried again until Patience is over.
var Conflicts = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 1, Steps: int(Patience / (100 * time.Millisecond))}

// Options says what the tests of a package need.
type Options struct {
	// StartDelay is how long a container takes to start. 0 means half a second.
	StartDelay time.Duration
	// Parallel is how many tests run at once, unless the flag -parallel says so. They wait most of the time. 0 means 12.
	Parallel int
	// RealNodes is the number of nodes that run real containers, each with an agent. If a machine can run none, the tests say
	// what is missing and do nothing. 0 means that all nodes are simulated.
	RealNodes int
	// FeatureGates is a list like "CloneSetShortHash=true" for the managers, whose account then has the rights that this takes.
	FeatureGates string
	// ManagerFlags are given to every manager.
	ManagerFlags []string
	// Flags are those that a test gives to a manager and that take rights. All managers have these rights.
	Flags []string
	// Audit keeps a log of every request of the managers and the agents, for Scene.Writes. After the tests it is compared with the
	// rights that they state.
	Audit bool
	// Unused names the programs whose rights a run of all tests must make use of. Each comes with the rights that need no
	// test, and the reason. See Judge.Unused.
	Unused map[string]map[string]string
}

// Testbed is a control plane, clients of it and a manager, which all tests of a package share. Tests that hold one of the three up
// have Another, or are not parallel, so that they run before all others, one by one.
type Testbed struct {
	Control *cluster.Cluster
	Core    kubernetes.Interface
	Dynamic dynamic.Interface
	Manager *Manager
	Agents  []*Agent

	options    Options
	identities map[string]identity // by program

	mu      sync.Mutex
	another []*Testbed
}

// Main starts a testbed, runs the tests and exits. ready is called when the manager has been started, and returns when it can
// be tested.
func Main(m *testing.M, o Options, ready func(context.Context, *Testbed) error) {
	beProgram()
	flag.Parse()
	o.complete()
	os.Exit(run(m, o, ready))
}

func (o *Options) complete() {
	if o.StartDelay == 0 {
		o.StartDelay = 500 * time.Millisecond
	}
	if o.Parallel == 0 {
		o.Parallel = 12
	}
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(o.Parallel))
	}
}

func run(m *testing.M, o Options, ready func(context.Context, *Testbed) error) int {
	if missing := cluster.RealNodesMissing(); o.RealNodes > 0 && len(missing) > 0 {
		fmt.Printf("these tests on real nodes did not run: %v\n", &cluster.MissingError{Missing: missing})
		return 0
	}
	bed := newTestbed(o)
	defer bed.stop()
	if err := bed.start(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := ready(ctx, bed); err != nil {
		fmt.Fprintf(os.Stderr, "%v\nthe end of the manager's log:\n%s\n", err, bed.Manager.LogTail(""))
		return 1
	}
	code := m.Run()
	if !o.Audit {
		return code
	}
	bed.kill()
	if err := bed.checkRights(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func newTestbed(o Options) *Testbed { return &Testbed{options: o, identities: map[string]identity{}} }

// Another starts one more testbed with the same options, for tests that hold up what the others share. It ends with the first,
// and its requests count together with those of the first.
func (b *Testbed) Another(ctx context.Context) (*Testbed, error) {
	another := newTestbed(b.options)
	b.mu.Lock()
	b.another = append(b.another, another)
	b.mu.Unlock()
	return another, another.start(ctx)
}

func (b *Testbed) start(ctx context.Context) (err error) {
	o := &b.options
	b.Control, err = cluster.Start(ctx, cluster.Options{
		RealNodes: o.RealNodes, StartDelay: &o.StartDelay, Log: os.Stderr,
		Audit: o.Audit, AuditUsers: slices.Collect(maps.Values(users)),
		// As in OpenShift: who has an object block the deletion of its owner must have a right to that.
		APIServerArgs: []string{"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"},
	})
	if err != nil {
		return err
	}
	if b.Core, err = kubernetes.NewForConfig(b.Config()); err != nil {
		return err
	}
	if b.Dynamic, err = dynamic.NewForConfig(b.Config()); err != nil {
		return err
	}
	if err := b.identify(ctx, ManagerProgram); err != nil {
		return err
	}
	if b.Manager, err = b.NewManager("manager", "--leader-elect=false"); err != nil {
		return err
	}
	if err := b.Manager.Start(); err != nil {
		return err
	}
	return b.startAgents(ctx)
}

// kill ends the programs.
func (b *Testbed) kill() {
	for _, another := range b.another {
		another.kill()
	}
	if b.Manager != nil {
		b.Manager.Kill()
	}
	for _, agent := range b.Agents {
		agent.Kill()
	}
}

func (b *Testbed) stop() {
	b.kill()
	for _, another := range b.another {
		another.stop()
	}
	if b.Control != nil {
		if err := b.Control.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
}

// Repeat calls attempt until it returns no error or the context is done; then it returns what was waited for and the last error.
func Repeat(ctx context.Context, expected string, attempt func() error) error {
	var last error
	for {
		err := attempt()
		if err == nil {
			return nil
		}
		// An attempt that the end of the context broke off tells nothing.
		if ctx.Err() == nil || last == nil {
			last = err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("waiting for %s: %w: the last answer was: %w", expected, ctx.Err(), last)
		}
		mirror.Pause(ctx)
	}
}
