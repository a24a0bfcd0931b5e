package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/klog/v2"
)

// stopTimeout is how long a server waits for requests under way.
const stopTimeout = 10 * time.Second

// server is one HTTP server of the manager. Its listener is open from the start,
// so that an address in use is found before anything else happens.
type server struct {
	name     string
	listener net.Listener
	handler  http.Handler
}

func listen(name, address string, handler http.Handler) (*server, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serving %s on %s: %w", name, address, err)
	}
	return &server{name, listener, handler}, nil
}

// address returns what the server listens on; empty for none.
func (s *server) address() string {
	if s == nil {
		return ""
	}
	return s.listener.Addr().String()
}

// run serves until the context is done, and then until the requests under way
// are answered. With a TLS configuration it serves HTTPS.
func (s *server) run(ctx context.Context, tlsConfig *tls.Config) error {
	logger := klog.FromContext(ctx).WithName(s.name)
	httpServer := &http.Server{
		Handler:           s.handler,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		TLSConfig:         tlsConfig,
		ErrorLog:          errorLog(logger),
		BaseContext: func(net.Listener) context.Context {
			return klog.NewContext(context.WithoutCancel(ctx), logger)
		},
	}
	ended := make(chan error, 1)
	go func() {
		if tlsConfig != nil {
			ended <- httpServer.ServeTLS(s.listener, "", "")
		} else {
			ended <- httpServer.Serve(s.listener)
		}
	}()
	logger.V(1).Info("Serving", "address", s.address())
	select {
	case err := <-ended:
		return fmt.Errorf("serving %s on %s: %w", s.name, s.address(), err)
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
