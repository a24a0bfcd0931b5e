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

// nodes is the number of nodes in a cluster of the demo's own.
const nodes = 3

// startCluster starts a cluster on this machine. Whatever ends this program ends the cluster.
func startCluster(ctx context.Context, screen *display.Screen) (*place, error) {
	end := screen.Begin("building the control plane: etcd, Kubernetes, KWOK")
	binary, err := cluster.Build(ctx, os.Stdout)
	if err != nil {
		end("")
		return nil, err
	}
	end("the control plane is built: etcd, Kubernetes, KWOK")

	end = screen.Begin(fmt.Sprintf("starting the control plane and %d simulated nodes", nodes))
	log := &clusterLog{screen: screen}
	c, err := cluster.Start(ctx, cluster.Options{Nodes: nodes, ControlPlane: binary, Log: log})
	if err != nil {
		end("")
		return nil, err
	}
	end(fmt.Sprintf("the API server and %d simulated nodes are ready", nodes))
	log.started.Store(true)
	return &place{
		config: c.Config(), kubeconfig: c.Kubeconfig(), namespace: "default", own: true, dir: c.Dir(), close: c.Stop,
	}, nil
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
