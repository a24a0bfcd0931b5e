// SPDX-License-Identifier: Apache-2.0

package process

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

// stopTimeout is how long a server waits for requests under way.
const stopTimeout = 10 * time.Second

// Server is an HTTP server. Its listener is open from the start, so that an
// address in use is found before anything else happens. Listen makes one.
type Server struct {
	// Listener is closed by Run; who does not run the server closes it.
	Listener net.Listener

	name    string
	handler http.Handler
}

// Listen returns a server that does not serve yet. The name stands in logs and
// errors.
func Listen(name, address string, handler http.Handler) (*Server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serving %s on %s: %w", name, address, err)
	}
	return &Server{listener, name, handler}, nil
}

// Address returns what the server listens on; empty for nil.
func (s *Server) Address() string {
	if s == nil {
		return ""
	}
	return s.Listener.Addr().String()
}

// Run serves until the context is done, and then until the requests under way
// are answered. With a TLS configuration it serves HTTPS.
func (s *Server) Run(ctx context.Context, tlsConfig *tls.Config) error {
	logger := klog.FromContext(ctx).WithName(s.name)
	httpServer := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		TLSConfig:         tlsConfig,
		ErrorLog:          ErrorLog(logger),
		BaseContext: func(net.Listener) context.Context {
			return klog.NewContext(context.WithoutCancel(ctx), logger)
		},
	}
	ended := make(chan error, 1)
	go func() {
		if tlsConfig != nil {
			ended <- httpServer.ServeTLS(s.Listener, "", "")
		} else {
			ended <- httpServer.Serve(s.Listener)
		}
	}()
	logger.V(1).Info("Serving", "address", s.Address())
	select {
	case err := <-ended:
		return fmt.Errorf("serving %s on %s: %w", s.name, s.Address(), err)
	case <-ctx.Done():
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err := httpServer.Shutdown(limited)
	if errors.Is(err, context.DeadlineExceeded) {
		logger.Info("Requests were still under way at the end", "waited", stopTimeout)
		err = httpServer.Close()
	}
	<-ended
	return err
}

// ErrorLog leads what net/http logs, which is mostly the noise of broken connections, to the log for debugging.
func ErrorLog(logger klog.Logger) *log.Logger {
	return slog.NewLogLogger(logr.ToSlogHandler(logger), slog.Level(-2))
}
