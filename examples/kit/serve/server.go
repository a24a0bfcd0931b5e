// SPDX-License-Identifier: Apache-2.0

// Package serve has what a process without controller-runtime serves: probes, metrics and profiles over HTTP, which end
// with it in order. A node agent is one.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"
)

// stopTimeout is how long a server waits for requests under way.
const stopTimeout = 10 * time.Second

// Servers serve HTTP until they are stopped, or one of them fails. Start makes them.
type Servers struct {
	// Context is done when they shall end.
	Context context.Context

	group *errgroup.Group
	stop  context.CancelFunc
}

// Start returns no servers yet, which do not end with the context.
func Start(ctx context.Context) *Servers {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	group, ctx := errgroup.WithContext(ctx)
	return &Servers{ctx, group, stop}
}

// Stop lets all servers answer the requests under way, for a while. It returns when they have ended, with the error of the one
// that has failed.
func (s *Servers) Stop() error {
	s.stop()
	return s.group.Wait()
}

// Add serves on an address from now on, and returns what it listens on. No address, or "0", is none: nothing is served then.
// The name stands in logs and errors.
func (s *Servers) Add(name, address string, handler http.Handler) (string, error) {
	if address == "" || address == "0" {
		return "", nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("serving %s on %s: %w", name, address, err)
	}
	address = listener.Addr().String()
	logger := klog.FromContext(s.Context).WithName(name)
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: ErrorLog(logger),
		BaseContext: func(net.Listener) context.Context { return klog.NewContext(context.WithoutCancel(s.Context), logger) },
	}
	s.group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serving %s on %s: %w", name, address, err)
		}
		return nil
	})
	s.group.Go(func() error {
		<-s.Context.Done()
		limited, cancel := context.WithTimeout(context.WithoutCancel(s.Context), stopTimeout)
		defer cancel()
		err := server.Shutdown(limited)
		if errors.Is(err, context.DeadlineExceeded) {
			logger.Info("Requests were still under way at the end", "waited", stopTimeout)
			err = server.Close()
		}
		return err
	})
	logger.V(1).Info("Serving", "address", address)
	return address, nil
}

// ErrorLog leads what net/http logs, which is mostly the noise of broken connections, to the log for debugging.
func ErrorLog(logger klog.Logger) *log.Logger {
	return slog.NewLogLogger(logr.ToSlogHandler(logger), slog.Level(-2))
}
