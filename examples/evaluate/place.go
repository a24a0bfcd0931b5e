package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/examples/cluster"
	"github.com/podwright/podwright/examples/cluster/registry"
	"github.com/podwright/podwright/examples/evaluate/display"
)

// place is where the demo happens: a cluster and a namespace in it.
type place struct {
	config     *rest.Config
	kubeconfig string
	// namespace is empty until makeNamespace has made one.
	namespace string
	// own says that the cluster is the demo's own, to do as it likes.
	own bool
	// manager says that somebody runs a manager there already.
	manager string
	// dir holds log files.
	dir string
	// close leaves nothing behind.
	close func() error
}

// The kinds of nodes in a cluster of the demo's own, and how many there are.
const (
	nodeSimulated, simulatedNodes = "simulated", 3
	nodeReal, realNodes           = "real", 2
)

// startCluster starts a cluster on this machine. Whatever ends this program ends the cluster.
func startCluster(ctx context.Context, node string, screen *display.Screen) (*place, error) {
	o := cluster.Options{Nodes: simulatedNodes}
	what := fmt.Sprintf("%d simulated nodes", simulatedNodes)
	if node == nodeReal {
		o = cluster.Options{RealNodes: realNodes}
		what = fmt.Sprintf("%d nodes that run containers", realNodes)
	}
	if err := buildCluster(ctx, &o, screen); err != nil {
		return nil, err
	}
	end := screen.Begin("starting the control plane and " + what)
	log := &clusterLog{screen: screen}
	o.Log = log
	c, err := cluster.Start(ctx, o)
	if err != nil {
		end("")
		return nil, err
	}
	if err := addImages(c); err != nil {
		end("")
		return nil, errors.Join(err, c.Stop())
	}
	end("the API server and " + what + " are ready")
	log.started.Store(true)
	return &place{
		config: c.Config(), kubeconfig: c.Kubeconfig(), namespace: "default", own: true, dir: c.Dir(), close: c.Stop,
	}, nil
}

// buildCluster builds what the cluster will run.
func buildCluster(ctx context.Context, o *cluster.Options, screen *display.Screen) (err error) {
	parts := "etcd, Kubernetes, KWOK"
	if o.RealNodes > 0 {
		if missing := cluster.RealNodesMissing(); len(missing) > 0 {
			return &cluster.MissingError{Missing: missing}
		}
		parts += ", containerd"
	}
	end := screen.Begin("building the cluster: " + parts)
	o.ControlPlane, err = cluster.Build(ctx, os.Stdout)
	if err == nil && o.RealNodes > 0 {
		_, err = cluster.BuildRealNodes(ctx, os.Stdout)
	}
	if err != nil {
		end("")
		return err
	}
	end("the cluster is built: " + parts)
	return nil
}

// addImages serves the images of the demo where they are pulled for real; the bad one does not exist.
func addImages(c *cluster.Cluster) error {
	images := c.Images()
	if images == nil {
		return nil
	}
	for _, name := range []string{oldImage, newImage} {
		if _, err := images.Add(name, registry.Image{Labels: map[string]string{"name": name}}); err != nil {
			return err
		}
	}
	return nil
}

// clusterLog shows what a running cluster has to say: that something died.
type clusterLog struct {
	screen  *display.Screen
	started atomic.Bool
}

func (l *clusterLog) Write(text []byte) (int, error) {
	if l.started.Load() {
		l.screen.Print(display.Line{Text: "cluster: " + string(trimNewline(text)), Style: display.Bad})
	}
	return len(text), nil
}

func trimNewline(text []byte) []byte {
	for len(text) > 0 && text[len(text)-1] == '\n' {
		text = text[:len(text)-1]
	}
	return text
}

var errNoLogs = errors.New("there are no logs")

// keepLogs copies the log files out of a directory that is about to go, and
// returns where to.
func (p *place) keepLogs() (string, error) {
	files, err := filepath.Glob(filepath.Join(p.dir, "*.log"))
	if err != nil {
		return "", err
	}
	if len(files) == 0 {
		return "", errNoLogs
	}
	dir, err := os.MkdirTemp("", "podwright-demo-logs-")
	if err != nil {
		return "", err
	}
	for _, file := range files {
		if err := copyFile(filepath.Join(dir, filepath.Base(file)), file); err != nil {
			return "", err
		}
	}
	return dir, nil
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// cleanupTime is how long it may take to leave nothing behind.
const cleanupTime = time.Minute
