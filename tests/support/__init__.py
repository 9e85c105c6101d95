"""What tests share: made-up webs and archives, servers that misbehave, and referees."""
