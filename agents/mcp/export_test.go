package mcp

import "context"

// Call calls a tool as it was approved, as the gate does.
func (s *Server) Call(ctx context.Context, o Offer, args map[string]any) (string, error) {
	res, err := s.call(ctx, o, args)
	return res.Text, err
}
